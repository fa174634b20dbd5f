//! Digits, and a task as the shaders see it.

use std::mem::offset_of;

use wgpu::naga::front::wgsl;
use wgpu::naga::{StructMember, TypeInner};

use super::*;
use crate::shader;

#[test]
fn digits_cover_a_range_in_an_even_number_of_passes() {
    let ranges = (0..=64).flat_map(|end| (0..=end).map(move |start| (start, end)));
    for ((start, end), most_bits) in ranges.flat_map(|range| [4, 8].map(|bits| (range, bits))) {
        let digits = digits(start..end, most_bits);
        let mut next = start;
        let right = digits.iter().all(|digit| {
            let follows = digit.shift == next;
            next += digit.bits;
            follows && digit.bits <= most_bits
        });
        let number = digits.len();
        assert!(
            right
                && next == end
                && number.is_multiple_of(2)
                && (2..=64 / most_bits as usize).contains(&number),
            "bits {start}..{end}, {most_bits} at most: {digits:?}"
        );
    }
}

#[test]
fn tasks_and_routes_lie_as_the_shaders_see_them() {
    let source = shader::source(&["task", "key_32", "scan"], &[], 1);
    let module = wgsl::parse_str(&source).unwrap();
    let theirs = |name: &str| {
        let mut types = module.types.iter().map(|(_, ty)| ty);
        let found = types.find(|ty| ty.name.as_deref() == Some(name)).unwrap();
        let TypeInner::Struct { members, span } = &found.inner else {
            panic!("{found:?}");
        };
        let offset = |member: &StructMember| {
            let name = member.name.clone();
            (name.unwrap_or_default(), u64::from(member.offset))
        };
        let offsets: Vec<(String, u64)> = members.iter().map(offset).collect();
        (offsets, u64::from(*span))
    };
    let coder = |at| offset_of!(Task, coder) + at;
    let task = [
        ("n", offset_of!(Task, n)),
        ("counted", offset_of!(Task, counted)),
        ("pass_number", offset_of!(Task, pass_number)),
        ("route_rows", offset_of!(Task, route_rows)),
        ("tiles", offset_of!(Task, tiles)),
        ("most_groups", offset_of!(Task, most_groups)),
        ("ties", offset_of!(Task, ties)),
        ("indexed", offset_of!(Task, indexed)),
        ("flip", coder(offset_of!(Coder, flip))),
        ("float_mask", coder(offset_of!(Coder, float_mask))),
        ("rotate", coder(offset_of!(Coder, rotate))),
        ("infinity", coder(offset_of!(Coder, infinity))),
        ("digit", offset_of!(Task, digit)),
        ("digits", offset_of!(Task, digits)),
    ];
    let task = task.map(|(name, at)| (name.to_owned(), at as u64));
    assert_eq!(theirs("Task"), (task.to_vec(), TASK_BYTES as u64));
    // The rows that `begins` writes: the dispatch and the move, then the moves and the keys.
    let route = [
        ("groups", 0),
        ("move_number", 12),
        ("moves", MOVES_AT),
        ("n", MOVES_AT + 4),
    ];
    let route = route.map(|(name, at)| (name.to_owned(), at));
    assert_eq!(theirs("Route"), (route.to_vec(), ROUTE_BYTES));
}

#[test]
fn control_is_as_the_shaders_see_it() {
    let task = shader::FILES
        .iter()
        .find(|file| file.name == "task")
        .unwrap();
    for (name, number) in [
        ("MOST_PASSES", MOST_PASSES as u64),
        ("COUNT", COUNT),
        ("HISTOGRAMS", CONTROL_WORDS - 2 * 8 * 256),
        ("BEGINS", CONTROL_WORDS - 8 * 256),
    ] {
        let line = format!("const {name}: u32 = {number}u;");
        assert!(task.text.contains(&line), "task.wgsl has no {line}");
    }
}
