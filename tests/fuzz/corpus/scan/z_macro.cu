#define K(n) \
 __global__ void n() { }
K(a)
#if 0
__global__ void b() {}
#else
int main() { a<<<1, 2>>>(); }
