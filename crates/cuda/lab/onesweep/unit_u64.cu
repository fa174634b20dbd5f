#include "lab.cuh"
#define LAB_KEY u64
#include "unit_fixed.inc"
using K = u64; using N = Nothing;
constexpr auto B = Check::BITS;
void register_u64() {
    add<Shape<K, N, 512, 20, 1, RankByAdd, B>>("add 512x20");
    add<Shape<K, N, 512, 20, 1, AddUnchecked>>("UNSAFE add 512x20");
    add<Shape<K, N, 512, 20, 1, RankByAdd, Check::TAGS>>("add-tags 512x20");
    add<Shape<K, N, 512, 20, 1, RankByMatch<MatchMasks>>>("masks 512x20");
    add<Shape<K, N, 512, 20, 1, RankByHalves>>("halves 512x20");
    add<Shape<K, N, 512, 24, 1, RankByAdd, B>>("add 512x24");
    add<Shape<K, N, 512, 32, 1, RankByAdd, B>>("add 512x32");
    add<Shape<K, N, 384, 32, 1, RankByAdd, B>>("add 384x32");
    add<Shape<K, N, 384, 40, 1, RankByAdd, B>>("add 384x40");
    add<Shape<K, N, 256, 36, 2, RankByAdd, B>>("add 256x36 x2");
    add<Shape<K, N, 1024, 16, 1, RankByAdd, B>>("add 1024x16");
    add<Shape<K, N, 512, 20, 1, RankByAdd, B, false>>("add 512x20 -prefetch");
    add<Shape<K, N, 512, 16, 2, RankByAdd, B, false>>("add 512x16 x2 -prefetch");
    add<Shape<K, N, 256, 8, 4, RankByAdd, B>>("add 256x8 x4");
    add<Shape<K, N, 512, 20, 1, AddDisordered, B>>("DISORDERED add 512x20", true);
    add_small<K, N, 1024, 8, RankByMatch<MatchMasks>>("small masks 1024x8");
}
