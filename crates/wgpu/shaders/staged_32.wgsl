// A tile in workgroup memory: keys of 32 bits; then each word of the values.

fn stage_key(place: u32, key: Key) {
    atomicStore(&room[place], key);
}

fn staged_key(place: u32) -> Key {
    return atomicLoad(&room[place]);
}
