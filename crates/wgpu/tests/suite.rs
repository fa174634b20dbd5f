//! The testkit's table on a software adapter, for every kind of shader.

use sweepsort_testkit::suite::{self, Scope};
use sweepsort_wgpu::{Adapter, Options, WgpuEngine};

fn engine(options: Options) -> WgpuEngine {
    let all = Adapter::all();
    let software = all.iter().find(|adapter| adapter.facts().software);
    let adapter = software.expect("a software adapter; `cargo xtask test` installs one");
    WgpuEngine::on(adapter, options).unwrap()
}

fn run(options: Options, scope: Scope) {
    let outcome = suite::run(&engine(options), "auto", scope).unwrap();
    eprintln!("{options:?}: {outcome:?}");
    assert!(outcome.passed > 100, "{outcome:?}");
}

#[test]
fn small() {
    run(Options::default(), Scope::SMALL);
}
