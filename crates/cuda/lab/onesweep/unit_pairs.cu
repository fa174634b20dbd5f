#include "lab.cuh"
constexpr auto T = Check::TAGS;
void register_pairs() {
    {
        using K = u32; using V = u32;
        add<Shape<K, V, 512, 20, 1, RankByAdd, T>>("add 512x20");
        add<Shape<K, V, 512, 20, 1, AddUnchecked>>("UNSAFE add 512x20");
        add<Shape<K, V, 512, 20, 1, RankByMatch<MatchMasks>>>("masks 512x20");
        add<Shape<K, V, 512, 20, 1, RankByHalves>>("halves 512x20");
        add<Shape<K, V, 512, 24, 1, RankByAdd, T>>("add 512x24");
        add<Shape<K, V, 384, 32, 1, RankByAdd, T>>("add 384x32");
        add<Shape<K, V, 384, 40, 1, RankByAdd, T>>("add 384x40");
        add<Shape<K, V, 256, 32, 2, RankByAdd, T>>("add 256x32 x2");
        add<Shape<K, V, 1024, 16, 1, RankByAdd, T>>("add 1024x16");
        add<Shape<K, V, 512, 20, 1, RankByAdd, T, false>>("add 512x20 -prefetch");
        add<Shape<K, V, 256, 8, 4, RankByAdd, T>>("add 256x8 x4");
        add<Shape<K, V, 512, 20, 1, AddDisordered, T>>("DISORDERED add 512x20", true);
        add<Shape<K, V, 256, 8, 4, AddDisorderedUnchecked>>("WRONG add 256x8", false, true);
        add_small<K, V, 1024, 8, RankByMatch<MatchMasks>>("small masks 1024x8");
    }
    {
        using K = u64; using V = u64;
        add<Shape<K, V, 512, 12, 1, RankByAdd, T>>("add 512x12");
        add<Shape<K, V, 512, 16, 1, RankByAdd, T>>("add 512x16");
        add<Shape<K, V, 512, 12, 1, RankByMatch<MatchMasks>>>("masks 512x12");
        add<Shape<K, V, 512, 16, 1, RankByHalves>>("halves 512x16");
        add<Shape<K, V, 384, 20, 1, RankByAdd, T>>("add 384x20");
        add<Shape<K, V, 256, 16, 2, RankByAdd, T>>("add 256x16 x2");
        add<Shape<K, V, 512, 18, 1, RankByAdd, T>>("add 512x18");
        add<Shape<K, V, 512, 16, 1, RankByAdd, T, false>>("add 512x16 -prefetch");
        add<Shape<K, V, 512, 16, 1, AddDisordered, T>>("DISORDERED add 512x16", true);
    }
    {
        using K = u32; using V = u64;
        add<Shape<K, V, 512, 16, 1, RankByAdd, T>>("add 512x16");
        add<Shape<K, V, 384, 24, 1, RankByAdd, T>>("add 384x24");
        add<Shape<K, V, 512, 16, 1, RankByHalves>>("halves 512x16");
    }
    {
        using K = u64; using V = u32;
        add<Shape<K, V, 512, 16, 1, RankByAdd, T>>("add 512x16");
        add<Shape<K, V, 384, 24, 1, RankByAdd, T>>("add 384x24");
        add<Shape<K, V, 512, 16, 1, RankByHalves>>("halves 512x16");
    }
}
