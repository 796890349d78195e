::::a::b::~c() {} a::a() : b(1), c{2} {} operator int() {} auto f() -> int { return 1; } struct 
S { int a; } s = {1}; enum class E : int { A };