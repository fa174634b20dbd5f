// Ballots of subgroups of up to 32 threads.

alias Ballot = u32;

fn ballot(vote: bool) -> Ballot {
    return subgroupBallot(vote).x;
}

fn vec_of(b: bool) -> bool {
    return b;
}

// The lowest thread in a ballot that is not empty.
fn lowest(ballot: Ballot) -> u32 {
    return firstTrailingBit(ballot);
}

fn count(ballot: Ballot) -> u32 {
    return countOneBits(ballot);
}

// The threads below this one.
fn below(lane: u32) -> Ballot {
    return (1u << lane) - 1u;
}
