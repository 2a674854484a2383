//! All banks and their tellers, through all rounds: opening, one round's work, and reading everything back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use armilla_crash::http_client::Connection;
use armilla_crash::requests::{Composer, Target};
use armilla_env::{Env, Random};
use armilla_value::Value;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::bank::{BANKS, Bank};
use crate::bank_requests;
use crate::content::Area;
use crate::ledger::Commit;
use crate::setup::{DATABASE, ask, list};
use crate::teller::Teller;
use crate::writer::{Round, commit};

/// The banks as they are known, and who works in them.
pub(crate) struct Banking {
    tellers: Vec<Teller>,
    banks: Vec<Bank>,
}

/// What the tellers of a round did.
#[derive(Debug, Default)]
pub(crate) struct BankingDone {
    pub(crate) commits: Vec<Commit>,
    /// Acknowledged transactions.
    pub(crate) acts: u64,
    /// Transactions that failed, as they were made to.
    pub(crate) refused: u64,
    /// Transactions that were not answered and may have happened.
    pub(crate) in_flight: u64,
    pub(crate) wrong: Vec<String>,
}

/// What was found in the banks.
#[derive(Debug, Default)]
pub(crate) struct BankFindings {
    pub(crate) differences: Vec<String>,
    pub(crate) items: usize,
    /// Unanswered transactions that had happened.
    pub(crate) kept: u64,
}

impl Banking {
    /// Makes the scripts and opens the banks; returns the commits as well.
    pub(crate) async fn open(
        connection: &mut Connection,
        composer: &mut Composer,
        env: &Env,
        tellers: usize,
    ) -> Result<(Banking, Vec<Commit>)> {
        for request in bank_requests::scripts(composer) {
            ask(connection, &request, 201).await?;
        }
        let mut commits = Vec::new();
        for number in 0..BANKS {
            for request in bank_requests::opening(composer, &Bank::key(number)) {
                let reply = ask(connection, &request, 201).await?;
                commits.push(commit(Area::Banks, &reply).map_err(anyhow::Error::msg)?);
            }
        }
        let tellers = (0..tellers).map(|number| Teller::new(number, env)).collect();
        Ok((Banking { tellers, banks: (0..BANKS).map(|_| Bank::new()).collect() }, commits))
    }

    /// Sends the tellers to work.
    pub(crate) fn start(
        &mut self,
        round: &Arc<Round>,
        part: impl Fn(usize) -> Random,
    ) -> Vec<JoinHandle<Teller>> {
        let tellers = std::mem::take(&mut self.tellers).into_iter().enumerate();
        tellers.map(|(index, teller)| tokio::spawn(teller.run(round.clone(), part(index)))).collect()
    }

    /// Takes the tellers back, and what was acknowledged into the banks.
    pub(crate) async fn finish(
        &mut self,
        working: Vec<JoinHandle<Teller>>,
        longest: Duration,
    ) -> Result<BankingDone> {
        let mut done = BankingDone::default();
        for teller in working {
            let teller = timeout(longest, teller).await.context("a teller hangs")??;
            for (bank, act) in &teller.done.acts {
                self.banks[*bank].apply(act);
            }
            done.commits.extend_from_slice(&teller.done.commits);
            done.acts += teller.done.acts.len() as u64;
            done.refused += teller.done.refused;
            done.in_flight += u64::from(teller.done.in_flight.is_some());
            done.wrong.extend(teller.done.wrong.clone());
            self.tellers.push(teller);
        }
        Ok(done)
    }

    /// Reads all banks back after a restart and compares them with what they must be; then knows them.
    pub(crate) async fn verify(
        &mut self,
        connection: &mut Connection,
        composer: &mut Composer,
    ) -> Result<BankFindings> {
        let mut by_key: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        let target = Target::Items(DATABASE, Area::Banks.container());
        let mut findings = BankFindings::default();
        for item in list(connection, composer, target, "Documents", &[]).await? {
            let key = item.get("pk").and_then(Value::as_str).context("an item has no partition key")?;
            by_key.entry(key.to_owned()).or_default().push(item);
            findings.items += 1;
        }
        for number in 0..BANKS {
            let key = Bank::key(number);
            let wrong = |difference: String| format!("{key}: {difference}");
            match Bank::of_items(by_key.remove(&key).unwrap_or_default()) {
                Ok(shown) => {
                    let (kept, differences) = self.judge(number, shown);
                    findings.kept += kept;
                    findings.differences.extend(differences.into_iter().map(wrong));
                }
                Err(difference) => findings.differences.push(wrong(difference)),
            }
        }
        let strange = by_key.keys().map(|key| format!("there is a logical partition {key} that nobody made"));
        findings.differences.extend(strange);
        for teller in &mut self.tellers {
            teller.done.in_flight = None;
        }
        Ok(findings)
    }

    /// Compares one bank; returns how many unanswered transactions had happened, and what is wrong.
    fn judge(&mut self, number: usize, shown: Bank) -> (u64, Vec<String>) {
        let bank = &mut self.banks[number];
        let (mut kept, mut differences) = (0, Vec::new());
        for teller in &mut self.tellers {
            let Some((_, act)) = teller.done.in_flight.take_if(|(own, _)| *own == number) else { continue };
            match shown.has_happened(&act) {
                Ok(happened) => {
                    if happened {
                        bank.apply(&act);
                        kept += 1;
                    }
                    teller.resolve(number, &act, happened);
                }
                Err(difference) => differences.push(difference),
            }
        }
        differences.extend(bank.differences(&shown));
        *bank = shown;
        (kept, differences)
    }
}
