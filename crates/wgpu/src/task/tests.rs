//! Digits, and a task as the shaders see it.

use std::mem::offset_of;

use wgpu::naga::TypeInner;
use wgpu::naga::front::wgsl;

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
fn a_task_lies_as_the_shaders_see_it() {
    let source = shader::source(&["task", "key_32", "begins"], &[], 1);
    let module = wgsl::parse_str(&source).unwrap();
    let mut types = module.types.iter().map(|(_, ty)| ty);
    let task = types.find(|ty| ty.name.as_deref() == Some("Task")).unwrap();
    let TypeInner::Struct { members, span } = &task.inner else {
        panic!("{task:?}");
    };
    let theirs: Vec<(&str, usize)> = members
        .iter()
        .map(|member| (member.name.as_deref().unwrap_or(""), member.offset as usize))
        .collect();
    let coder = |at| offset_of!(Task, coder) + at;
    let ours = [
        ("n", offset_of!(Task, n)),
        ("counted", offset_of!(Task, counted)),
        ("pass_number", offset_of!(Task, pass_number)),
        ("passes", offset_of!(Task, passes)),
        ("tiles", offset_of!(Task, tiles)),
        ("most_groups", offset_of!(Task, most_groups)),
        ("ties", offset_of!(Task, ties)),
        ("indexed", offset_of!(Task, indexed)),
        ("flip", coder(offset_of!(Coder, flip))),
        ("float_mask", coder(offset_of!(Coder, float_mask))),
        ("rotate", coder(offset_of!(Coder, rotate))),
        ("infinity", coder(offset_of!(Coder, infinity))),
        ("digits", offset_of!(Task, digits)),
    ];
    assert_eq!((theirs, *span as usize), (ours.to_vec(), TASK_BYTES));
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
        ("MOVES", MOVES),
        ("HISTOGRAMS", CONTROL_WORDS - 2 * 8 * 256),
        ("BEGINS", CONTROL_WORDS - 8 * 256),
    ] {
        let line = format!("const {name}: u32 = {number}u;");
        assert!(task.text.contains(&line), "task.wgsl has no {line}");
    }
}
