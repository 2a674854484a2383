//! Holds what must be in a store's folder against what is there, before the engine sees it.
//!
//! Three accounts are compared: the manifest (what must be there), the acknowledged mark (up to which group callers were told
//! that their commits are durable), and the survey (what is there). While a store is open the manifest follows behind the
//! engine, so everything is compared as a lower bound, except after a clean end.

use crate::journal::Rest;
use crate::manifest::{Manifest, State};
use crate::mark;
use crate::survey::{ENGINE_FOLDER, Finding, Survey};

/// Returns what is missing or damaged, the survey's own findings first. A mark that could not be read is none.
pub(crate) fn compare(manifest: &Manifest, mark: Option<u64>, survey: &Survey) -> Vec<Finding> {
    let mut comparison = Comparison { manifest, survey, findings: survey.findings.clone() };
    comparison.families();
    comparison.journals();
    comparison.first_batch();
    match mark {
        Some(mark) => comparison.groups(mark),
        // After a clean end nothing depends on it, and it is made anew.
        None if manifest.state == State::Closed => comparison.groups(manifest.flushed_group),
        None => comparison.find(
            mark::FILE,
            "it is missing or damaged, so that the loss of acknowledged writes could not be told from an unfinished one",
        ),
    }
    comparison.findings
}

/// Returns what is wrong with a folder of a program that wrote no manifest: whatever the engine's own accounts say.
pub(crate) fn compare_without_manifest(survey: &Survey) -> Vec<Finding> {
    let nothing_known = Manifest::new();
    let mut comparison = Comparison { manifest: &nothing_known, survey, findings: survey.findings.clone() };
    if let (Some((_, last)), Some(flushed)) = (survey.batches(), survey.flushed_record)
        && last.group < flushed
    {
        comparison.find(
            &newest_journal(survey),
            format!("it ends at group {}, before group {flushed} of the sorted files", last.group),
        );
    }
    if survey.batches().is_none() && survey.flushed_record.is_none() {
        comparison.find(ENGINE_FOLDER, "its journals and its sorted files hold no group at all");
    }
    comparison.findings
}

struct Comparison<'a> {
    manifest: &'a Manifest,
    survey: &'a Survey,
    findings: Vec<Finding>,
}

impl Comparison<'_> {
    fn find(&mut self, file: &str, problem: impl Into<String>) {
        self.findings.push(Finding { file: file.to_owned(), problem: problem.into() });
    }

    /// Lists never go back. (Sequence numbers can: merging drops what is removed for good.)
    fn families(&mut self) {
        for must in &self.manifest.families {
            // One that is not there at all is a finding of the survey.
            let Some(is) = self.survey.family(must.id) else { continue };
            let list = format!("{ENGINE_FOLDER}/keyspaces/{}/current", must.id);
            if is.version < must.version {
                self.find(
                    &list,
                    format!(
                        "it names list {} of family {}, list {} is the newest known",
                        is.version, must.name, must.version
                    ),
                );
            }
        }
    }

    /// A journal goes only when every family has what it held, and the newest never.
    fn journals(&mut self) {
        let ids: Vec<u64> = self.survey.journals.iter().map(|journal| journal.id).collect();
        for pair in ids.windows(2).filter(|pair| pair[0] + 1 != pair[1]) {
            self.find(&journal_name(pair[0] + 1), "it is missing between others");
        }
        let Some(newest) = self.manifest.journals.last() else { return };
        if ids.last().is_none_or(|last| *last < newest.id) {
            self.find(
                &journal_name(newest.id),
                "it is missing, and what was written last may be in it alone",
            );
        }
        let oldest = ids.first().copied().unwrap_or(u64::MAX);
        for must in
            self.manifest.journals.iter().filter(|journal| journal.id < oldest && journal.id < newest.id)
        {
            let Some(sealed) = &must.sealed else { continue };
            // A family with a newer list may have taken it in since; one without cannot have.
            let lacking = sealed.newest_sequences.iter().find(|(family, newest)| {
                let must = self.manifest.families.iter().find(|must| must.id == *family);
                let is = self.survey.family(*family);
                is.is_some_and(|is| {
                    Some(is.version) == must.map(|must| must.version)
                        && is.newest_sequence.is_none_or(|sequence| sequence < *newest)
                })
            });
            if lacking.is_some() {
                self.find(
                    &journal_name(must.id),
                    format!(
                        "it is missing, and groups {} to {} are in it alone",
                        sealed.first_group, sealed.last_group
                    ),
                );
            }
        }
    }

    /// What a journal says of the sequence number of its first batch is covered by no sum.
    fn first_batch(&mut self) {
        let Some((first, _)) = self.survey.batches() else { return };
        if first.group == self.manifest.flushed_group + 1 && first.sequence <= self.manifest.flushed_sequence
        {
            let oldest = self.survey.journals.iter().find(|journal| journal.batches.is_some());
            let name = oldest.map_or_else(String::new, |journal| journal_name(journal.id));
            self.find(&name, "its first batch has a sequence number that was used before");
        }
    }

    /// The journals reach from what is in sorted files to what was acknowledged.
    fn groups(&mut self, acknowledged: u64) {
        let Manifest { state, flushed_group, .. } = *self.manifest;
        let flushed_record = self.survey.flushed_record.unwrap_or(0);
        let Some((first, last)) = self.survey.batches() else {
            if acknowledged > flushed_group || flushed_record > flushed_group {
                let lost_to = acknowledged.max(flushed_record);
                self.find(
                    &newest_journal(self.survey),
                    format!("it holds no batch, groups {} to {lost_to} must be in it", flushed_group + 1),
                );
            }
            if state == State::Closed && flushed_record != flushed_group && self.survey.findings.is_empty() {
                self.find(
                    crate::manifest::FILE,
                    format!("it says that the store was closed at group {flushed_group}, its records end at {flushed_record}"),
                );
            }
            return;
        };
        if state == State::Closed {
            self.find(
                &newest_journal(self.survey),
                format!(
                    "it holds groups up to {}, though the store was closed cleanly at group {flushed_group}",
                    last.group
                ),
            );
            return;
        }
        let newest_known = acknowledged.max(flushed_record);
        if last.group < newest_known {
            let how = match self.survey.journals.last().map(|journal| journal.rest) {
                Some(Rest::Nothing) | None => "it ends at",
                Some(Rest::Torn | Rest::Hole(_)) => "it can be read up to",
            };
            self.find(
                &newest_journal(self.survey),
                format!(
                    "{how} group {}, groups {} to {newest_known} were acknowledged",
                    last.group,
                    last.group + 1
                ),
            );
        }
        if first.group > flushed_group + 1 {
            let is_missing = |id: u64| self.survey.journals.iter().all(|journal| journal.id != id);
            let some_went = self.manifest.journals.iter().any(|journal| is_missing(journal.id));
            // Journals that went since the manifest was written had reached sorted files, with the records of their groups.
            if !some_went || flushed_record < first.group - 1 {
                let oldest = self.survey.journals.iter().find(|journal| journal.batches.is_some());
                let name = oldest.map_or_else(String::new, |journal| journal_name(journal.id));
                self.find(
                    &name,
                    format!(
                        "it begins at group {}, group {} must come first",
                        first.group,
                        flushed_group + 1
                    ),
                );
            }
        }
    }
}

fn journal_name(id: u64) -> String {
    format!("{ENGINE_FOLDER}/{id}.jnl")
}

fn newest_journal(survey: &Survey) -> String {
    survey
        .journals
        .last()
        .map_or_else(|| format!("{ENGINE_FOLDER}/*.jnl"), |journal| journal_name(journal.id))
}
