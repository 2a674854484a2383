//! Finds out which of several sources comes next, with few comparisons: a knockout whose matches are remembered.

/// A knockout among numbered players. After one of them has changed, only its own matches are played again.
pub(super) struct Tournament {
    /// The winner of each match, the final at 1; those of match `n` come from `2n` and `2n + 1`. Players are behind the
    /// matches.
    winners: Vec<u32>,
    /// Where the first player is.
    first: usize,
}

/// A place without a player.
const NONE: u32 = u32::MAX;

impl Tournament {
    /// Lets so many players play. `beats` says whether one comes before another; it is never asked about the same two the
    /// other way round with another outcome.
    pub(super) fn new(players: usize, mut beats: impl FnMut(usize, usize) -> bool) -> Tournament {
        let first = players.next_power_of_two().max(1);
        let mut winners = vec![NONE; 2 * first];
        for player in 0..players {
            winners[first + player] = player as u32;
        }
        let mut tournament = Tournament { winners, first };
        for at in (1..first).rev() {
            tournament.play(at, &mut beats);
        }
        tournament
    }

    /// Returns who comes first.
    pub(super) fn winner(&self) -> Option<usize> {
        Some(self.winners[1]).filter(|winner| *winner != NONE).map(|winner| winner as usize)
    }

    /// Plays the matches of a player again that has changed.
    pub(super) fn replay(&mut self, player: usize, mut beats: impl FnMut(usize, usize) -> bool) {
        let mut at = (self.first + player) / 2;
        while at > 0 {
            self.play(at, &mut beats);
            at /= 2;
        }
    }

    /// Takes a player out that has nothing more.
    pub(super) fn remove(&mut self, player: usize, beats: impl FnMut(usize, usize) -> bool) {
        self.winners[self.first + player] = NONE;
        self.replay(player, beats);
    }

    fn play(&mut self, at: usize, beats: &mut impl FnMut(usize, usize) -> bool) {
        let (left, right) = (self.winners[2 * at], self.winners[2 * at + 1]);
        let left_wins = right == NONE || (left != NONE && beats(left as usize, right as usize));
        self.winners[at] = if left_wins { left } else { right };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_come_in_their_order_whatever_their_number() {
        for players in 0..20_usize {
            let mut numbers: Vec<Option<usize>> = (0..players).map(|player| Some(player * 7 % 11)).collect();
            let order = |numbers: &[Option<usize>], a: usize, b: usize| (numbers[a], a) < (numbers[b], b);
            let mut tournament = Tournament::new(players, |a, b| order(&numbers, a, b));
            let mut found = Vec::new();
            while let Some(winner) = tournament.winner() {
                let number = numbers[winner].unwrap();
                found.push((number, winner));
                // Each comes twice: the second time far behind.
                if number < 100 {
                    numbers[winner] = Some(number + 100);
                    tournament.replay(winner, |a, b| order(&numbers, a, b));
                } else {
                    tournament.remove(winner, |a, b| order(&numbers, a, b));
                }
            }
            let mut expected = found.clone();
            expected.sort_unstable();
            assert_eq!(found, expected, "{players} players");
            assert_eq!(found.len(), 2 * players);
        }
    }
}
