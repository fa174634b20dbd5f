// A tile in workgroup memory: keys of 32 bits; then each word of the values.

var<workgroup> staged: array<u32, TILE>;

fn stage_key(place: u32, key: Key) {
    staged[place] = key;
}

fn staged_key(place: u32) -> Key {
    return staged[place];
}
