//! Whatever is chosen, the rows are those of a full scan, on pages of any size.

use crate::choose::choose;
use crate::exec::testing::*;
use crate::physical::Access;

const TEXTS: [&str; 28] = [
    "SELECT VALUE c.id FROM c WHERE c.g = 'g1'",
    "SELECT VALUE c.id FROM c WHERE c.g IN ('g1', 'g2') AND c.r > 4 AND c.n != 3",
    "SELECT VALUE c.id FROM c WHERE c.n >= 2 OR c.s = 'same'",
    "SELECT VALUE c.id FROM c WHERE STARTSWITH(c.s, 'x') OR IS_ARRAY(c.n)",
    "SELECT VALUE c.id FROM c WHERE CONTAINS(c.s, '1')",
    "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, 't2')",
    "SELECT VALUE [c.id, t] FROM c JOIN t IN c.tags WHERE t = 't3' AND c.r < 9",
    "SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.n)",
    "SELECT VALUE c.id FROM c WHERE c.n = [3] OR c.n = {a: 2}",
    "SELECT VALUE c.id FROM c WHERE c.id = 'i7' AND c.pk = 'p7'",
    "SELECT VALUE c.id FROM c WHERE false",
    "SELECT VALUE COUNT(1) FROM c",
    "SELECT VALUE COUNT(1) FROM c WHERE c.g = 'g3'",
    "SELECT VALUE COUNT(c.n) FROM c",
    "SELECT VALUE MAX(c.s) FROM c",
    "SELECT VALUE MIN(c.r) FROM c",
    "SELECT DISTINCT VALUE c.n FROM c",
    "SELECT DISTINCT c.n FROM c",
    "SELECT c.g, AVG(c.r) AS a FROM c WHERE c.n > 1 GROUP BY c.g",
    "SELECT COUNT(1) AS n, SUM(c.n) AS s, AVG(c.n) AS a, MIN(c.n) AS l, MAX(c.n) AS h FROM c WHERE c.n >= 2",
    "SELECT COUNT(1) AS n, MAX(c.s) AS h, SUM(c.s) AS s FROM c WHERE c.s > 'a'",
    "SELECT c.n, COUNT(1) AS k FROM c WHERE c.n != 3 GROUP BY c.n",
    "SELECT COUNT(1) AS n, SUM(c.r + 0.1) AS s, MAX(c.g) AS g FROM c WHERE c.g IN ('g1', 'g3')",
    "SELECT VALUE c.id FROM c WHERE c.n > 2 ORDER BY c.n",
    "SELECT VALUE c.id FROM c ORDER BY c.n DESC",
    "SELECT VALUE c.id FROM c WHERE c.g = 'g1' ORDER BY c.s",
    "SELECT VALUE c.id FROM c WHERE c.g = 'g1' ORDER BY c.g, c.r DESC",
    "SELECT VALUE c.id FROM c WHERE ( c.n < 4 OR NOT IS_DEFINED(c.n) OR IS_NULL(c.n) ) ORDER BY c.n DESC",
];

#[test]
fn chosen_plans_give_what_scans_give() {
    let scans = always(Access::ScanByNumber);
    for item_count in [0, 1, 30, 700] {
        let items = items(item_count);
        for source_count in [1, 4] {
            let sources = sources(&items, source_count);
            let sources = lend(&sources);
            for text in TEXTS {
                let query = compile(text);
                let expected = Ask::new(&query, &*scans, 1_000_000).all(&sources);
                let whole = Ask::new(&query, &choose, 1_000_000).all(&sources);
                let name = format!("{text}: {item_count} items, {source_count} sources");
                if text.contains("ORDER BY") {
                    assert_eq!(whole.rows, expected.rows, "{name}");
                } else {
                    assert_eq!(whole.sorted_rows(), expected.sorted_rows(), "{name}");
                }
                for rows_max in [1, 7, 100] {
                    if rows_max == 1 && item_count > 100 {
                        continue;
                    }
                    let paged = Ask::new(&query, &choose, rows_max).all(&sources);
                    paged.check(&query, &whole, &format!("{name}, {rows_max} rows a page"));
                }
            }
        }
    }
}
