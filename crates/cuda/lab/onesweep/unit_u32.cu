#include "lab.cuh"
#define LAB_KEY u32
#include "unit_fixed.inc"
using K = u32; using N = Nothing;
constexpr auto B = Check::BITS;
void register_u32() {
    // Rankers, one shape.
    add<Shape<K, N, 512, 32, 1, RankByAdd, B>>("add 512x32");
    add<Shape<K, N, 512, 32, 1, AddUnchecked>>("UNSAFE add 512x32");
    add<Shape<K, N, 512, 32, 1, RankByAdd, Check::TAGS>>("add-tags 512x32");
    add<Shape<K, N, 512, 32, 1, RankByMatch<MatchMasks>>>("masks 512x32");
    add<Shape<K, N, 512, 32, 1, RankByHalves>>("halves 512x32");
    add<Shape<K, N, 512, 32, 1, RankByMatch<MatchBallots>>>("ballots 512x32");
    add<Shape<K, N, 512, 32, 1, RankByMatch<MatchAny>>>("match 512x32");
    // Shapes.
    add<Shape<K, N, 512, 36, 1, RankByAdd, B>>("add 512x36");
    add<Shape<K, N, 512, 40, 1, RankByAdd, B>>("add 512x40");
    add<Shape<K, N, 384, 48, 1, RankByAdd, B>>("add 384x48");
    add<Shape<K, N, 384, 40, 1, RankByAdd, B>>("add 384x40");
    add<Shape<K, N, 256, 72, 1, RankByAdd, B>>("add 256x72");
    add<Shape<K, N, 256, 48, 2, RankByAdd, B>>("add 256x48 x2");
    add<Shape<K, N, 256, 56, 2, RankByAdd, B>>("add 256x56 x2");
    add<Shape<K, N, 1024, 18, 1, RankByAdd, B>>("add 1024x18");
    add<Shape<K, N, 512, 24, 2, RankByAdd, B>>("add 512x24 x2");
    add<Shape<K, N, 384, 32, 2, RankByAdd, B>>("add 384x32 x2");
    // What single choices do.
    add<Shape<K, N, 512, 36, 1, RankByAdd, B, false>>("add 512x36 -prefetch");
    add<Shape<K, N, 512, 28, 2, RankByAdd, B, false>>("add 512x28 x2 -prefetch");
    add<Shape<K, N, 512, 36, 1, RankByAdd, B, true, 0>>("add 512x36 -skew");
    add<Shape<K, N, 512, 36, 1, RankByAdd, B, true, 4>>("add 512x36 skew 1/4");
    add<Shape<K, N, 512, 36, 1, RankByAdd, B, true, 2, 1>>("add 512x36 ahead 1");
    add<Shape<K, N, 512, 36, 1, RankByAdd, B, true, 2, 8>>("add 512x36 ahead 8");
    add<Shape<K, N, 512, 24, 2, RankByHalves>>("halves 512x24 x2");
    add<Shape<K, N, 512, 24, 2, RankByMatch<MatchMasks>>>("masks 512x24 x2");
    // Middle sizes.
    add<Shape<K, N, 256, 8, 4, RankByAdd, B>>("add 256x8 x4");
    add<Shape<K, N, 256, 16, 3, RankByAdd, B>>("add 256x16 x3");
    add<Shape<K, N, 512, 12, 2, RankByAdd, B>>("add 512x12 x2");
    // Wrong on purpose, and repaired.
    add<Shape<K, N, 512, 32, 1, AddDisordered, B>>("DISORDERED add 512x32", true);
    add<Shape<K, N, 512, 32, 1, AddDisordered, Check::TAGS>>("DISORDERED add-tags 512x32", true);
    add<Shape<K, N, 256, 8, 4, AddDisorderedUnchecked>>("WRONG add 256x8", false, true);
    add_small<K, N, 1024, 16, RankByMatch<MatchMasks>>("small masks 1024x16");
    add_small<K, N, 1024, 16, RankByMatch<MatchBallots>>("small ballots 1024x16");
}
