const char *s = R"x( "})" )x"; char c = '"'; /* " */ // \
 int main() {}
__global__ void k() { asm("{ .reg .b32 a; }"); }
