//! Tiles for every device that there can be.

use super::*;

/// So many keys that there is one of each kind of tile.
pub(crate) const NUMBERS_OF_KEYS: [usize; 6] = [1, 3 << 17, 1 << 19, 3 << 18, 1 << 20, 1 << 30];

/// Rooms of every kind: the limits that devices have, each with every ranking.
pub(crate) fn rooms() -> Vec<Room> {
    let mut rankings = vec![(Ranking::Barriers, 32)];
    for (team_size, most) in [
        (4, 4),
        (8, 8),
        (8, 32),
        (16, 16),
        (32, 32),
        (32, 64),
        (64, 64),
        (4, 128),
        (128, 128),
    ] {
        rankings.push((Ranking::Subgroups { most }, team_size));
    }
    let storages = [
        0,
        8 << 10,
        12 << 10,
        16 << 10,
        24 << 10,
        32 << 10,
        48 << 10,
        64 << 10,
        228 << 10,
    ];
    let threads = [32, 64, 128, 256, 384, 512, 1024];
    let mut rooms = Vec::new();
    for (ranking, team_size) in rankings {
        for storage in storages {
            rooms.extend(threads.map(|threads| Room {
                storage,
                threads,
                ranking,
                team_size,
                tile: None,
                runs: None,
                like_many: false,
            }));
        }
    }
    rooms
}

#[test]
fn tiles_fit_the_device_that_they_are_chosen_for_and_webgpu_promises_enough() {
    for (room, (name, method)) in rooms().iter().flat_map(|room| METHODS.map(|it| (room, it))) {
        for (key_words, value_words) in (1..=2).flat_map(|k| (0..=4).map(move |v| (k, v))) {
            let what =
                format!("{name}, {room:?}, keys of {key_words} words, values of {value_words}");
            for keys in NUMBERS_OF_KEYS {
                match Tiling::choose(room, method, keys, key_words, value_words) {
                    Ok(tiling) => {
                        let (team_size, most) = match tiling.ranking {
                            Ranking::Subgroups { most } => (room.team_size, most),
                            Ranking::Barriers => (TEAM_SIZE, TEAM_SIZE),
                        };
                        let fits = tiling.threads <= room.threads
                            && tiling.storage(key_words) <= room.storage
                            && tiling.teams * team_size == tiling.threads
                            && tiling.threads.is_multiple_of(most)
                            && tiling.items > 0;
                        assert!(
                            fits,
                            "{what}: {tiling:?}, {} bytes",
                            tiling.storage(key_words)
                        );
                    }
                    Err(error) => {
                        // The default limits of WebGPU are enough, whatever subgroups there are.
                        assert!(
                            room.storage < 16 << 10 || room.threads < 256,
                            "{what}: {error}"
                        );
                        let said = error.to_string();
                        let named = [
                            "max_compute_workgroup_storage_size",
                            "max_compute_invocations_per_workgroup",
                        ];
                        let right = matches!(error, Error::Unsupported { .. })
                            && named.iter().all(|name| said.contains(name))
                            && said.contains(&format!("{} bytes", room.storage));
                        assert!(right, "{what}: {said}");
                    }
                }
            }
        }
    }
}

#[test]
fn few_tiles_have_room_in_the_states_that_leap() {
    let files = crate::shader::FILES;
    let leaps = files.iter().find(|file| file.name == "leaps").unwrap();
    let line = "const NUMBER_BITS: u32 = 22u;";
    assert!(leaps.text.contains(line), "leaps.wgsl has no {line}");
    let most_words = FEW.iter().map(|(threads, words)| threads * words).max();
    let most_keys = most_words.unwrap() as usize * FEW_TILES;
    assert!(
        most_keys < 1 << 22 && FEW_TILES < 1 << (32 - 22),
        "{most_keys}"
    );
}
