// Ballots of subgroups of up to 128 threads.

alias Ballot = vec4<u32>;

fn ballot(vote: bool) -> Ballot {
    return subgroupBallot(vote);
}

fn vec_of(b: bool) -> vec4<bool> {
    return vec4<bool>(b);
}

// The lowest thread in a ballot that is not empty.
fn lowest(ballot: Ballot) -> u32 {
    if (ballot.x != 0u) {
        return firstTrailingBit(ballot.x);
    }
    if (ballot.y != 0u) {
        return 32u + firstTrailingBit(ballot.y);
    }
    if (ballot.z != 0u) {
        return 64u + firstTrailingBit(ballot.z);
    }
    return 96u + firstTrailingBit(ballot.w);
}

fn count(ballot: Ballot) -> u32 {
    let counts = countOneBits(ballot);
    return counts.x + counts.y + counts.z + counts.w;
}

// The threads below this one.
fn below(lane: u32) -> Ballot {
    let bits = (1u << (lane & 31u)) - 1u;
    let word = vec4<u32>(lane / 32u);
    let place = vec4<u32>(0u, 1u, 2u, 3u);
    return select(select(vec4<u32>(0u), vec4<u32>(bits), place == word), vec4<u32>(0xffffffffu), place < word);
}
