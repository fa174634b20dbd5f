// A tile in workgroup memory: lower and upper halves of keys of 64 bits; then each word of the values.

var<workgroup> staged: array<u32, TILE>;
var<workgroup> staged_upper: array<u32, TILE>;

fn stage_key(place: u32, key: Key) {
    staged[place] = key.x;
    staged_upper[place] = key.y;
}

fn staged_key(place: u32) -> Key {
    return vec2<u32>(staged[place], staged_upper[place]);
}
