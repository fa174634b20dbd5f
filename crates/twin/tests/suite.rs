//! Every twin passes the suite that the fast engines pass.

use sweepsort_testkit::suite::{self, Scope};
use sweepsort_twin::{Algorithm, TwinEngine};

#[test]
fn every_twin_passes_the_suite() {
    let engine = TwinEngine {
        block: Some(64),
        ..TwinEngine::default()
    };
    let scope = Scope {
        tiles: &[64, 4096],
        ..Scope::SMALL
    };
    for &algorithm in Algorithm::NAMES {
        let outcome = suite::run(&engine, algorithm, scope).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(outcome.unsupported, 0, "{algorithm}");
        assert!(outcome.passed > 1000, "{algorithm}: {outcome:?}");
    }
}
