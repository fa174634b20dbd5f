// A tile in workgroup memory: lower and upper halves of keys of 64 bits; then each word of the values.

fn stage_key(place: u32, key: Key) {
    atomicStore(&room[place], key.x);
    atomicStore(&room[TILE + place], key.y);
}

fn staged_key(place: u32) -> Key {
    return vec2<u32>(atomicLoad(&room[place]), atomicLoad(&room[TILE + place]));
}
