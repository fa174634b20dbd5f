// The kernels of a hybrid sort, for one key width, SWEEPSORT_KEY_BITS.
//
//     probe, count, lay_out                 what is where; or room for what a sample lets expect
//     partition_once, partition_twice       once; or twice
//     partition_rooms                       the second time, from rooms
//     partition_middle, partition_middle_rooms
//                                           of 32 bits: the same, if there are not many keys
//     partition_quantiles, partition_quantile_rooms, local_quantiles
//                                           the same, where quantiles tell the cells
//     local, local_large                    cells that fit a block, or a larger one
//     local_tally                           instead of local: cells of which 16 bits are left
//     refine, local_refined                 cells that do not, and what is made of them
//     together                              instead of all before refine, for middle sizes
//     local_4, local_8, local_16            instead of local: cells of keys with values of so many bytes
//     partition_composite, local_composite, local_refined_composite
//                                           of 64 bits: 32-bit keys and what they carry, as words
//     weave                                 common keys, which count has sifted, and the rest
//     alone, alone_double                   instead of all these, for the smallest
//     ranked                                and for small ones, also with what travels with the keys
//     ranked_out_of_place                          the same for the smallest whose result goes elsewhere
//     hybrid_shapes                         what the host must know of them
#include "../key.cuh"
#include "tuning.cuh"

extern __shared__ __align__(16) u8 shared_memory[];

template <class Shared>
__device__ Shared& shared_as() {
    return *reinterpret_cast<Shared*>(shared_memory);
}

using T = Tuning<Key>;

// Grid: task.probe_blocks.
static_assert(sizeof(Probe<Key>::Shared) <= SHARED_KB * 1024, "it does not fit");
extern "C" __global__ void __launch_bounds__(Probe<Key>::THREADS, 1)
probe(const __grid_constant__ Task<Key> task) {
    Probe<Key>(task, shared_as<Probe<Key>::Shared>()).run();
}

// Grid: up to one block a multiprocessor. Shared: two bytes a cell, and at least Count::Others.
static_assert(sizeof(Count<Key>::Others) + sizeof(Count<Key>::Shared) <= SHARED_KB * 1024, "it does not fit");
extern "C" __global__ void __launch_bounds__(Count<Key>::THREADS, 1)
count(const __grid_constant__ Task<Key> task, u32 turn) {
    __shared__ Count<Key>::Shared shared;
    Count<Key>(task, shared, reinterpret_cast<u32*>(shared_memory)).run(turn);
}

// Grid: a block for each THREADS cells. Shared: none but its own.
extern "C" __global__ void __launch_bounds__(LayOut<Key>::THREADS, 1)
lay_out(const __grid_constant__ Task<Key> task) {
    __shared__ LayOut<Key>::Shared shared;
    LayOut<Key>(task, shared).run();
}

// Grid: up to one block a multiprocessor. Behind the onesweep.
static_assert(sizeof(Dictionary<Key>) <= Dictionary<Key>::most_bytes(), "the host has room for it");
extern "C" __global__ void __launch_bounds__(Weave<Key>::THREADS, 1)
weave(const __grid_constant__ Task<Key> task) {
    Weave<Key>(task, shared_as<Weave<Key>::Shared>()).run();
}

#define PARTITION(name, S)                                                            \
    static_assert(sizeof(PartitionShared<S>) <= SHARED_KB * 1024, "it does not fit"); \
    extern "C" __global__ void __launch_bounds__(S::THREADS, S::BLOCKS) name(         \
        const __grid_constant__ Task<Key> task, u32 level) {                          \
        Partition<S>(shared_as<PartitionShared<S>>()).run(task, level);               \
    }

PARTITION(partition_once, T::Once)
PARTITION(partition_twice, T::Twice)
#if SWEEPSORT_KEY_BITS == 32
using Middle = T::Middle::Tile;
PARTITION(partition_middle, Middle)
#endif

// Grid: a block a cell.
static_assert(sizeof(LocalShared<T::Cell>) <= SHARED_KB * 1024, "it does not fit");
extern "C" __global__ void __launch_bounds__(T::Cell::THREADS, T::Cell::BLOCKS)
local(const __grid_constant__ Task<Key> task) {
    sort_cell<T::Cell>(task, shared_as<LocalShared<T::Cell>>());
}

// Grid: as many blocks as run at a time.
static_assert(sizeof(LargeShared<T::LargeCell>) <= SHARED_KB * 1024, "it does not fit");
extern "C" __global__ void __launch_bounds__(T::LargeCell::THREADS, T::LargeCell::BLOCKS)
local_large(const __grid_constant__ Task<Key> task) {
    sort_large_cells<T::LargeCell>(task, shared_as<LargeShared<T::LargeCell>>());
}

#if SWEEPSORT_KEY_BITS == 32
// Grid: a block a cell.
using Tallied = T::Tallied::Shape;
static_assert(sizeof(TallyShared<Tallied>) <= SHARED_KB * 1024, "it does not fit");
extern "C" __global__ void __launch_bounds__(Tallied::THREADS, Tallied::BLOCKS)
local_tally(const __grid_constant__ Task<Key> task) {
    tally_cell<Tallied>(task, shared_as<TallyShared<Tallied>>());
}
#endif

// Grid: a block a cell.
#define LOCAL_VALUES(name, S)                                                          \
    static_assert(sizeof(ValuesShared<S>) <= SHARED_KB * 1024, "it does not fit");     \
    extern "C" __global__ void __launch_bounds__(S::Keys::THREADS, S::Keys::BLOCKS) name( \
        const __grid_constant__ ValuesTask<Key> task) {                                \
        sort_cell_values<S>(task, shared_as<ValuesShared<S>>());                       \
    }

LOCAL_VALUES(local_4, T::OfValues<u32>::Cell)
LOCAL_VALUES(local_8, T::OfValues<u64>::Cell)
LOCAL_VALUES(local_16, T::OfValues<uint4>::Cell)

// Grid: as many blocks as run at a time.
static_assert(sizeof(LocalShared<T::RefinedCell>) <= SHARED_KB * 1024, "it does not fit");
extern "C" __global__ void __launch_bounds__(T::RefinedCell::THREADS, T::RefinedCell::BLOCKS)
local_refined(const __grid_constant__ Task<Key> task) {
    sort_pieces<T::RefinedCell>(task, shared_as<LocalShared<T::RefinedCell>>());
}

#if SWEEPSORT_KEY_BITS == 64
using Composite = T::Composite;

// Grid: as partition_twice.
static_assert(sizeof(PartitionShared<Composite::First>) <= SHARED_KB * 1024, "it does not fit");
extern "C" __global__ void __launch_bounds__(Composite::First::THREADS, Composite::First::BLOCKS)
partition_composite(const __grid_constant__ CompositeTask task) {
    partition_composites(task, shared_as<PartitionShared<Composite::First>>());
}

// Grid: a block a cell.
static_assert(sizeof(LocalShared<Composite::Cell>) <= SHARED_KB * 1024, "it does not fit");
extern "C" __global__ void __launch_bounds__(Composite::Cell::THREADS, Composite::Cell::BLOCKS)
local_composite(const __grid_constant__ CompositeTask task) {
    sort_composite_cell(task, shared_as<LocalShared<Composite::Cell>>());
}

// Grid: as local_large. Before local_composite.
extern "C" __global__ void __launch_bounds__(T::LargeCell::THREADS, T::LargeCell::BLOCKS)
local_large_composite(const __grid_constant__ CompositeTask task) {
    sort_large_composite_cells(task, shared_as<LargeShared<T::LargeCell>>());
}

// Grid: as local_refined.
extern "C" __global__ void __launch_bounds__(T::RefinedCell::THREADS, T::RefinedCell::BLOCKS)
local_refined_composite(const __grid_constant__ CompositeTask task) {
    sort_composite_pieces(task, shared_as<LocalShared<T::RefinedCell>>());
}
#endif

// Grid: 1.
#define ALONE(name, S)                                                            \
    static_assert(sizeof(AloneShared<S>) <= SHARED_KB * 1024, "it does not fit"); \
    extern "C" __global__ void __launch_bounds__(S::THREADS, 1) name(             \
        const __grid_constant__ Task<Key> task) {                                 \
        sort_alone<S>(task, shared_as<AloneShared<S>>());                         \
    }

ALONE(alone, T::Alone)
#if SWEEPSORT_KEY_BITS < 128
ALONE(alone_double, T::AloneDouble::Shape)
#endif

// Grid: n / OWN. Shared: none but its own.
extern "C" __global__ void __launch_bounds__(T::FewOutOfPlace::THREADS, 1)
ranked_out_of_place(const __grid_constant__ RankedTask<Key> task) {
    __shared__ RankedOutOfPlaceShared<T::FewOutOfPlace> shared;
    RankedOutOfPlace<T::FewOutOfPlace>{task, shared}.run_block();
}

// Grid: as many blocks as run at a time.
static_assert(sizeof(RefineShared<T::Refined>) <= SHARED_KB * 1024, "it does not fit");
extern "C" __global__ void __launch_bounds__(T::Refined::THREADS, T::Refined::BLOCKS)
refine(const __grid_constant__ Task<Key> task) {
    Refine<T::Refined>(task, shared_as<RefineShared<T::Refined>>()).run();
}

// What the host must know of a kernel.
struct KernelShape {
    u32 threads, tile, blocks, shared_bytes;
};

#ifdef __CUDACC_RTC__
// PTX for older drivers is compiled without the headers of cooperative groups: there is no such kernel.
constexpr KernelShape TOGETHER_SHAPE = {0, 0, 0, 0}, TOGETHER_CELLS_SHAPE = {0, 0, 0, 0};
constexpr KernelShape RANKED_SHAPE = {0, 0, 0, 0};
#else
// Grid: at most as many blocks as run at a time, launched cooperatively.
static_assert(sizeof(TogetherShared<T::Whole>) <= SHARED_KB * 1024, "it does not fit");
extern "C" __global__ void __launch_bounds__(T::Whole::THREADS, T::Whole::BLOCKS)
together(const __grid_constant__ Task<Key> task) {
    Together<T::Whole>(task, shared_as<TogetherShared<T::Whole>>()).run();
}
constexpr KernelShape TOGETHER_SHAPE = {
    T::Whole::THREADS, T::Whole::TILE, T::Whole::BLOCKS, sizeof(TogetherShared<T::Whole>)};
constexpr KernelShape TOGETHER_CELLS_SHAPE = {T::Whole::Group::THREADS, T::Whole::Group::CAPACITY, 0, 0};

// Grid: n / task.chunk, launched cooperatively. Shared: RankedShared, and behind it codes.
extern "C" __global__ void __launch_bounds__(T::Few::THREADS, 1)
ranked(const __grid_constant__ RankedTask<Key> task) {
    Ranked<T::Few>(task, shared_as<RankedShared<T::Few>>()).run_block();
}
constexpr KernelShape RANKED_SHAPE = {T::Few::THREADS, T::Few::THREADS, 1, sizeof(RankedShared<T::Few>)};
#endif

#if !defined(__CUDACC_RTC__) && SWEEPSORT_KEY_BITS < 128
// Grid: at most as many blocks as run at a time, launched cooperatively.
#define PARTITION_ROOMS(name, S)                                                      \
    static_assert(sizeof(PartitionShared<S>) <= SHARED_KB * 1024, "it does not fit"); \
    extern "C" __global__ void __launch_bounds__(S::THREADS, S::BLOCKS) name(         \
        const __grid_constant__ Task<Key> task) {                                     \
        Partition<S>(shared_as<PartitionShared<S>>()).run_from_rooms(task);           \
    }

PARTITION_ROOMS(partition_rooms, T::Twice)
#if SWEEPSORT_KEY_BITS == 32
PARTITION_ROOMS(partition_middle_rooms, T::Middle::TileOfRooms)
#endif
constexpr bool HAS_ROOMS = true;
#else
constexpr bool HAS_ROOMS = false;
#endif

#if !defined(__CUDACC_RTC__) && SWEEPSORT_KEY_BITS == 64
using Quantile = T::Quantile;

// Grid: as partition_twice.
static_assert(sizeof(PartitionShared<Quantile::Tile>) <= SHARED_KB * 1024, "it does not fit");
extern "C" __global__ void __launch_bounds__(Quantile::Tile::THREADS, Quantile::Tile::BLOCKS)
partition_quantiles(const __grid_constant__ Task<Key> task) {
    Partition<Quantile::Tile>(shared_as<PartitionShared<Quantile::Tile>>()).run(task, FIRST);
}

PARTITION_ROOMS(partition_quantile_rooms, Quantile::Tile)

// Grid: as many blocks as run at a time.
static_assert(sizeof(LocalShared<Quantile::Cell>) <= SHARED_KB * 1024, "it does not fit");
extern "C" __global__ void __launch_bounds__(Quantile::Cell::THREADS, Quantile::Cell::BLOCKS)
local_quantiles(const __grid_constant__ Task<Key> task) {
    LocalQuantiles<Quantile::Cell>{task, shared_as<LocalShared<Quantile::Cell>>()}.run();
}
#endif

template <class S>
constexpr KernelShape partition_shape() {
    return {S::THREADS, S::TILE, S::BLOCKS, sizeof(PartitionShared<S>)};
}

#if SWEEPSORT_KEY_BITS == 32
constexpr KernelShape TALLY_SHAPE = {
    Tallied::THREADS, Tallied::CAPACITY, Tallied::BLOCKS, sizeof(TallyShared<Tallied>)};
constexpr KernelShape MIDDLE_SHAPE = partition_shape<Middle>(), MIDDLE_DIGITS = {0, Middle::DIGITS, 0, 0};
constexpr KernelShape MIDDLE_ROOMS_SHAPE = partition_shape<T::Middle::TileOfRooms>();
#else
// Wider keys have more bits left, and gain nothing by smaller tiles.
constexpr KernelShape TALLY_SHAPE = {0, 0, 0, 0}, MIDDLE_SHAPE = {0, 0, 0, 0}, MIDDLE_DIGITS = {0, 0, 0, 0};
constexpr KernelShape MIDDLE_ROOMS_SHAPE = {0, 0, 0, 0};
#endif

template <class S>
constexpr KernelShape local_shape() {
    return {S::THREADS, S::CAPACITY, S::BLOCKS, sizeof(LocalShared<S>)};
}

template <class S>
constexpr KernelShape alone_shape() {
    return {S::THREADS, S::CAPACITY, S::BLOCKS, sizeof(AloneShared<S>)};
}

template <class S>
constexpr KernelShape large_shape() {
    return {S::THREADS, S::CAPACITY, S::BLOCKS, sizeof(LargeShared<S>)};
}

template <class S>
constexpr KernelShape values_shape() {
    return {S::Keys::THREADS, S::CAPACITY, S::Keys::BLOCKS, sizeof(ValuesShared<S>)};
}

#if SWEEPSORT_KEY_BITS == 64
constexpr KernelShape COMPOSITE_PARTITION_SHAPE = partition_shape<Composite::First>();
constexpr KernelShape COMPOSITE_SHAPE = local_shape<Composite::Cell>();
#else
constexpr KernelShape COMPOSITE_PARTITION_SHAPE = {0, 0, 0, 0}, COMPOSITE_SHAPE = {0, 0, 0, 0};
#endif

#if !defined(__CUDACC_RTC__) && SWEEPSORT_KEY_BITS == 64
constexpr KernelShape QUANTILE_PARTITION_SHAPE = partition_shape<Quantile::Tile>();
constexpr KernelShape QUANTILE_CELL_SHAPE = local_shape<Quantile::Cell>();
#else
constexpr KernelShape QUANTILE_PARTITION_SHAPE = {0, 0, 0, 0}, QUANTILE_CELL_SHAPE = {0, 0, 0, 0};
#endif

#if SWEEPSORT_KEY_BITS < 128
constexpr KernelShape ALONE_DOUBLE_SHAPE = alone_shape<T::AloneDouble::Shape>();
#else
// As many wider keys take several blocks no longer.
constexpr KernelShape ALONE_DOUBLE_SHAPE = {0, 0, 0, 0};
#endif

// In the order of crates/cuda/src/hybrid/mod.rs.
extern "C" __device__ KernelShape hybrid_shapes[] = {
    {Probe<Key>::THREADS, Probe<Key>::TILE, 1, sizeof(Probe<Key>::Shared)},
    {Count<Key>::THREADS, Count<Key>::TILE, 1, sizeof(Count<Key>::Others)},
    {LayOut<Key>::THREADS, LayOut<Key>::THREADS, 1, 0},
    partition_shape<T::Twice>(),
    partition_shape<T::Once>(),
    {0, T::Once::DIGITS, 0, 0},
    local_shape<T::Cell>(),
    local_shape<T::RefinedCell>(),
    {T::Refined::THREADS, T::Refined::TILE, T::Refined::BLOCKS, sizeof(RefineShared<T::Refined>)},
    alone_shape<T::Alone>(),
    TOGETHER_SHAPE,
    TOGETHER_CELLS_SHAPE,
    values_shape<T::OfValues<u32>::Cell>(),
    values_shape<T::OfValues<u64>::Cell>(),
    values_shape<T::OfValues<uint4>::Cell>(),
    COMPOSITE_PARTITION_SHAPE,
    COMPOSITE_SHAPE,
    large_shape<T::LargeCell>(),
    TALLY_SHAPE,
    ALONE_DOUBLE_SHAPE,
    RANKED_SHAPE,
    {Weave<Key>::THREADS, Weave<Key>::TILE* Weave<Key>::KEYS, 1, sizeof(Weave<Key>::Shared)},
    {0, HAS_ROOMS, 0, 0},
    QUANTILE_PARTITION_SHAPE,
    QUANTILE_CELL_SHAPE,
    MIDDLE_SHAPE,
    MIDDLE_DIGITS,
    MIDDLE_ROOMS_SHAPE,
    {T::FewOutOfPlace::THREADS, T::FewOutOfPlace::OWN, 1, 0},
};
