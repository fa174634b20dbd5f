// Keys of 64 bits, the lower half first. See key_32.wgsl.

alias Key = vec2<u32>;

fn code(key: Key) -> Key {
    if (!CODED) {
        return key;
    }
    var word = key;
    if (task.ties != 0u) {
        let magnitude = word & task.float_mask;
        let infinity = task.infinity;
        if (magnitude.y > infinity.y || (magnitude.y == infinity.y && magnitude.x > infinity.x)) {
            word = task.float_mask;
        } else if (magnitude.x == 0u && magnitude.y == 0u) {
            word = vec2<u32>(0u, 0u);
        }
    }
    let negative = vec2<u32>(0u - (word.y >> 31u));
    word = word ^ (negative & task.float_mask) ^ task.flip;
    let borrow = select(0u, 1u, word.x < task.rotate.x);
    return vec2<u32>(word.x - task.rotate.x, word.y - task.rotate.y - borrow);
}

fn digit(code: Key, bits: vec2<u32>) -> u32 {
    let shift = bits.x & 31u;
    let upper = bits.x >= 32u;
    let low = select(code.x, code.y, upper) >> shift;
    // In two steps, as a shift by 32 is none.
    let carried = select((code.y << 1u) << (31u - shift), 0u, upper);
    return (low | carried) & bits.y;
}
