//! What is made of a text.

use super::*;

#[test]
fn loops_are_written_out_and_arrays_taken_apart() {
    // What it is about, and the text before and after, with two items and three words a value.
    let cases = [
        (
            "numbers that are asked for, and those that stand",
            "const ITEMS: u32 = 4u;\nconst VALUE_WORDS: u32 = 1u; // or more\nconst RADIX: u32 = 256u;\n",
            "const ITEMS: u32 = 2u;\nconst VALUE_WORDS: u32 = 3u;\nconst RADIX: u32 = 256u;\n",
        ),
        (
            "a loop by a number, and words that begin or end with its variable",
            "for (var k = 0u; k < 2u; k++) {\n    kk += k + ok + k_1;\n}\n",
            "{\n    kk += 0u + ok + k_1;\n}\n{\n    kk += 1u + ok + k_1;\n}\n",
        ),
        (
            "a loop by a name, and an array of as many",
            "const ITEMS: u32 = 4u;\nvar key: array<Key, ITEMS>;\n\
             for (var k = 0u; k < ITEMS; k++) {\n    key[k] = keys[start + k];\n}\n",
            "const ITEMS: u32 = 2u;\nvar key_0: Key;\nvar key_1: Key;\n\
             {\n    key_0 = keys[start + 0u];\n}\n{\n    key_1 = keys[start + 1u];\n}\n",
        ),
        (
            "braces within a loop, and what comes after it",
            "for (var k = 0u; k < 2u; k++) {\nif (k == x) {\ny();\n} else { z(k); }\n}\nend(k);\n",
            "{\nif (0u == x) {\ny();\n} else { z(0u); }\n}\n\
             {\nif (1u == x) {\ny();\n} else { z(1u); }\n}\nend(k);\n",
        ),
        (
            "a loop within a loop",
            "var v: array<Value, 2>;\nfor (var w = 0u; w < 2u; w++) {\n\
             for (var k = 0u; k < 2u; k++) {\nv[k][w] = w;\n}\n}\n",
            "var v_0: Value;\nvar v_1: Value;\n\
             {\n{\nv_0[0u] = 0u;\n}\n{\nv_1[0u] = 0u;\n}\n}\n\
             {\n{\nv_0[1u] = 1u;\n}\n{\nv_1[1u] = 1u;\n}\n}\n",
        ),
        (
            "loops by what is not known here, and those of another kind, stay",
            "for (var t = 0u; t < TEAMS; t++) {\nx += t;\n}\nfor (var i = thread; i < 8u; i++) {\n}\n",
            "for (var t = 0u; t < TEAMS; t++) {\nx += t;\n}\nfor (var i = thread; i < 8u; i++) {\n}\n",
        ),
        (
            "arrays in workgroup memory, and those of an unknown length, stay",
            "var<workgroup> sums: array<u32, 8>;\nvar x: array<u32, TEAMS>;\n",
            "var<workgroup> sums: array<u32, 8>;\nvar x: array<u32, TEAMS>;\n",
        ),
        (
            "no turn at all",
            "const NONE: u32 = 0u;\nfor (var k = 0u; k < NONE; k++) {\nx();\n}\ny();\n",
            "const NONE: u32 = 0u;\ny();\n",
        ),
    ];
    for (what, before, after) in cases {
        assert_eq!(made(before, &[("ITEMS", 2)], 3), after, "{what}");
    }
}

#[test]
fn every_file_of_the_folder_is_listed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/shaders");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.strip_suffix(".wgsl").unwrap_or(&name).to_owned()
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    assert_eq!(FILES.map(|file| file.name.to_owned()).to_vec(), names);
}
