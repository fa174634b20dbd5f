#include "lab.cuh"
using u128 = unsigned __int128;
#define LAB_KEY u8
#include "unit_fixed.inc"
#undef LAB_KEY
#define LAB_KEY u16
#include "unit_fixed.inc"
#undef LAB_KEY
#define LAB_KEY u128
#include "unit_fixed.inc"
void register_other() {
    add<Shape<u8, Nothing, 512, 64, 1, RankByAdd, Check::BITS>>("add 512x64");
    add<Shape<u8, Nothing, 512, 32, 2, RankByAdd, Check::BITS>>("add 512x32 x2");
    add<Shape<u16, Nothing, 512, 48, 1, RankByAdd, Check::BITS>>("add 512x48");
    add<Shape<u16, Nothing, 512, 32, 2, RankByAdd, Check::BITS>>("add 512x32 x2");
    add<Shape<u16, u32, 512, 20, 1, RankByAdd, Check::TAGS>>("add 512x20");
    add<Shape<u128, Nothing, 512, 12, 1, RankByAdd, Check::BITS>>("add 512x12");
    add<Shape<u128, Nothing, 384, 16, 1, RankByAdd, Check::BITS>>("add 384x16");
    add<Shape<u32, uint4, 512, 12, 1, RankByAdd, Check::TAGS>>("add 512x12");
}
