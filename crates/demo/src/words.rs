//! Texts that look like writing: words with frequencies as in a language, so that they compress as writing does.

use armilla_env::Random;

/// Common words, the commonest first.
const WORDS: &str = "the of and to in a is that it for was on are as with they be at one have this from or had by hot \
    word but what some we can out other were all there when up use your how said an each she which do their time if \
    will way about many then them write would like so these her long make thing see him two has look more day could \
    go come did number sound no most people my over know water than call first who may down side been now find any \
    new work part take get place made live where after back little only round man year came show every good me give \
    our under name very through just form sentence great think say help low line differ turn cause much mean before \
    move right boy old too same tell does set three want air well also play small end put home read hand port large \
    spell add even land here must big high such follow act why ask men change went light kind off need house picture \
    try us again animal point mother world near build self earth father head stand own page should country found \
    answer school grow study still learn plant cover food sun four between state keep eye never last let thought \
    city tree cross farm hard start might story saw far sea draw left late run while press close night real life few \
    north open seem together next white children begin got walk example ease paper group always music those both \
    mark often letter until mile river car feet care second book carry took science eat room friend began idea fish \
    mountain stop once base hear horse cut sure watch colour face wood main enough plain girl usual young ready above \
    ever red list though feel talk bird soon body dog family direct pose leave song measure door product black short \
    numeral class wind question happen complete ship area half rock order fire south problem piece told knew pass \
    since top whole king space heard best hour better true during hundred five remember step early hold west ground \
    interest reach fast verb sing listen six table travel less morning ten simple several vowel toward war lay \
    against pattern slow centre love person money serve appear road map rain rule govern pull cold notice voice unit \
    power town fine certain fly fall lead cry dark machine note wait plan figure star box noun field rest correct \
    able pound done beauty drive stood contain front teach week final gave green quick develop ocean warm free \
    minute strong special mind behind clear tail produce fact street inch multiply nothing course stay wheel full \
    force blue object decide surface deep moon island foot system busy test record boat common gold possible plane \
    stead dry wonder laugh thousand ago ran check game shape equate miss brought heat snow tire bring yes distant \
    fill east paint language among";

/// How finely frequencies are told apart; a power of two.
const TABLE_LENGTH: usize = 4_096;

/// Writes texts.
pub(crate) struct Words {
    /// Each word as often as it is common.
    table: Vec<&'static [u8]>,
}

impl Words {
    /// Puts the words into their frequencies: the nth is as common as one in n.
    pub(crate) fn new() -> Words {
        let words: Vec<&[u8]> = WORDS.split_whitespace().map(str::as_bytes).collect();
        let harmonic: f64 = (1..=words.len()).map(|rank| 1.0 / (rank + 2) as f64).sum();
        let mut table = Vec::with_capacity(TABLE_LENGTH);
        let mut reached = 0.0;
        for (rank, word) in words.iter().copied().enumerate() {
            reached += 1.0 / (rank + 3) as f64 / harmonic;
            let until = (reached * TABLE_LENGTH as f64).round() as usize;
            // Every word comes at least once, as far as there is room.
            let until = until.max(table.len() + 1).min(TABLE_LENGTH);
            table.resize(until, word);
        }
        table.resize(TABLE_LENGTH, words[0]);
        Words { table }
    }

    /// Appends a text of exactly so many characters, all of them letters and spaces, no space at its ends.
    pub(crate) fn write(&self, random: &mut Random, length: usize, out: &mut Vec<u8>) {
        let end = out.len() + length;
        let mut bits = 0;
        let mut left = 0;
        while out.len() < end {
            if left == 0 {
                (bits, left) = (random.next_u64(), 5);
            }
            let word = self.table[bits as usize % TABLE_LENGTH];
            bits >>= 12;
            left -= 1;
            out.extend_from_slice(word);
            out.push(b' ');
        }
        out.truncate(end);
        if let Some(last) = out.last_mut().filter(|last| **last == b' ') {
            *last = b's';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_their_length_and_no_character_that_is_escaped() {
        let words = Words::new();
        for length in [0, 1, 2, 40, 100, 1_300, 1_490] {
            for seed in 0..50 {
                let mut out = b"x".to_vec();
                words.write(&mut Random::of_thing(seed, &[]), length, &mut out);
                assert_eq!(out.len(), length + 1);
                assert!(out.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b' '));
                assert!(!out.ends_with(b" "));
            }
        }
    }

    #[test]
    fn common_words_are_common() {
        let words = Words::new();
        let mut out = Vec::new();
        words.write(&mut Random::of_thing(1, &[]), 200_000, &mut out);
        let text = String::from_utf8(out).unwrap();
        let count = |wanted: &str| text.split(' ').filter(|word| *word == wanted).count();
        let [first, tenth, late] = ["the", "it", "among"].map(count);
        assert!(first > 2 * tenth && tenth > 2 * late && late > 0, "{first} {tenth} {late}");
    }
}
