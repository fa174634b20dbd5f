// Keys of 32 bits.
//
// A key's code stands, as an unsigned number, where the key is to stand; the codec is that of
// sweepsort-core, number by number. Keys are moved as they are, and coded whenever a digit is wanted.

alias Key = u32;

fn code(key: Key) -> Key {
    if (!CODED) {
        return key;
    }
    var word = key;
    if (task.ties != 0u) {
        let magnitude = word & task.float_mask.x;
        if (magnitude > task.infinity.x) {
            word = task.float_mask.x;
        } else if (magnitude == 0u) {
            word = 0u;
        }
    }
    let negative = 0u - (word >> 31u);
    return (word ^ (negative & task.float_mask.x) ^ task.flip.x) - task.rotate.x;
}

// A digit of a code: `bits` has its lowest bit, and the mask of as many bits as it has.
fn digit(code: Key, bits: vec2<u32>) -> u32 {
    return (code >> bits.x) & bits.y;
}
