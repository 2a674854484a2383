//! The calls of a link that have no answer yet.

use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use tokio::time::Instant;

use crate::error::CallError;
use crate::limits::{CALLS_MAX, REQUEST_BYTES_MAX};

/// What came of a call.
pub(crate) type Outcome = Result<Bytes, CallError>;

/// Which generation of a slot comes after the last one. Ids have their highest bit clear.
const GENERATIONS: u32 = 1 << 31;

/// The calls that have no answer yet, and the outcomes that their callers have not taken yet.
#[derive(Default)]
pub(crate) struct Calls {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Calls without an outcome.
    waiting: usize,
    /// Those of them that were sent, and their bytes.
    sent: usize,
    sent_bytes: usize,
}

/// Where a call is kept. An id says the slot and its generation, so that an answer that comes late finds no other call.
struct Slot {
    generation: u32,
    call: Option<Call>,
}

struct Call {
    deadline: Instant,
    bytes: usize,
    is_sent: bool,
    caller: Option<Waker>,
    outcome: Option<Outcome>,
}

impl Calls {
    /// Adds a call and returns its id.
    pub(crate) fn add(&mut self, deadline: Instant, bytes: usize) -> u64 {
        let call = Some(Call { deadline, bytes, is_sent: false, caller: None, outcome: None });
        self.waiting += 1;
        let (index, generation) = match self.free.pop() {
            Some(index) => {
                let slot = &mut self.slots[index as usize];
                slot.call = call;
                (index, slot.generation)
            }
            None => {
                let index = u32::try_from(self.slots.len()).expect("there are fewer calls than ids");
                self.slots.push(Slot { generation: 0, call });
                (index, 0)
            }
        };
        u64::from(generation) << 32 | u64::from(index)
    }

    /// Returns how many have no outcome.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Tells whether another may be sent now.
    pub(crate) fn may_send(&self) -> bool {
        self.sent < CALLS_MAX && self.sent_bytes < REQUEST_BYTES_MAX
    }

    /// Notes that a call is sent from here on. Returns false if it is none any more.
    pub(crate) fn mark_sent(&mut self, id: u64) -> bool {
        let Some(call) = self.get(id).filter(|call| call.outcome.is_none()) else { return false };
        call.is_sent = true;
        let bytes = call.bytes;
        self.sent += 1;
        self.sent_bytes += bytes;
        true
    }

    /// Gives a call its outcome. Returns the caller that has to be woken.
    pub(crate) fn finish(&mut self, id: u64, outcome: Outcome) -> Option<Waker> {
        let call = self.get(id).filter(|call| call.outcome.is_none())?;
        call.outcome = Some(outcome);
        let caller = call.caller.take();
        let (is_sent, bytes) = (call.is_sent, call.bytes);
        self.forget(is_sent, bytes);
        caller
    }

    /// Returns the outcome, after which the call is no more.
    pub(crate) fn poll(&mut self, id: u64, cx: &Context<'_>) -> Poll<Outcome> {
        let Some(call) = self.get(id) else {
            return Poll::Ready(Err(CallError::Unknown("the call has ended".to_owned())));
        };
        if let Some(outcome) = call.outcome.take() {
            self.release(id);
            return Poll::Ready(outcome);
        }
        match &mut call.caller {
            Some(caller) => caller.clone_from(cx.waker()),
            caller => *caller = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// Ends a call that its caller has given up. Returns whether the other node has to be told.
    pub(crate) fn abandon(&mut self, id: u64) -> bool {
        let Some(call) = self.get(id) else { return false };
        let (is_waiting, is_sent, bytes) = (call.outcome.is_none(), call.is_sent, call.bytes);
        self.release(id);
        if is_waiting {
            self.forget(is_sent, bytes);
        }
        is_waiting && is_sent
    }

    /// Ends the calls whose time is over. Adds those of which the other node has to be told, and the callers to be woken;
    /// returns when the next one is due.
    pub(crate) fn expire(
        &mut self,
        now: Instant,
        given_up: &mut Vec<u64>,
        callers: &mut Vec<Waker>,
    ) -> Option<Instant> {
        let mut next: Option<Instant> = None;
        for index in 0..self.slots.len() {
            let slot = &mut self.slots[index];
            let Some(call) = slot.call.as_mut().filter(|call| call.outcome.is_none()) else { continue };
            if call.deadline > now {
                next = Some(next.map_or(call.deadline, |next| next.min(call.deadline)));
                continue;
            }
            let message = "its patience is at its end".to_owned();
            let (is_sent, bytes) = (call.is_sent, call.bytes);
            call.outcome =
                Some(Err(if is_sent { CallError::Unknown(message) } else { CallError::NotSent(message) }));
            callers.extend(call.caller.take());
            if is_sent {
                given_up.push(u64::from(slot.generation) << 32 | index as u64);
            }
            self.forget(is_sent, bytes);
        }
        next
    }

    /// Ends all calls: those that were sent are not known, the others failed as is said.
    pub(crate) fn fail(&mut self, error: &CallError, callers: &mut Vec<Waker>) {
        self.fail_sent(error, callers);
        for slot in &mut self.slots {
            let Some(call) = slot.call.as_mut().filter(|call| call.outcome.is_none()) else { continue };
            call.outcome = Some(Err(error.clone()));
            callers.extend(call.caller.take());
        }
        self.waiting = 0;
    }

    /// Ends the calls that were sent: what became of them is not known.
    pub(crate) fn fail_sent(&mut self, error: &CallError, callers: &mut Vec<Waker>) {
        let (CallError::NotSent(message) | CallError::Unknown(message) | CallError::Refused(message)) = error;
        for slot in &mut self.slots {
            let Some(call) = &mut slot.call else { continue };
            if call.is_sent && call.outcome.is_none() {
                call.outcome = Some(Err(CallError::Unknown(message.clone())));
                callers.extend(call.caller.take());
            }
        }
        self.waiting -= self.sent;
        (self.sent, self.sent_bytes) = (0, 0);
    }

    fn get(&mut self, id: u64) -> Option<&mut Call> {
        let slot = self.slots.get_mut(id as u32 as usize)?;
        slot.call.as_mut().filter(|_| u64::from(slot.generation) == id >> 32)
    }

    /// Frees the slot of a call.
    fn release(&mut self, id: u64) {
        let index = id as u32;
        let slot = &mut self.slots[index as usize];
        slot.call = None;
        slot.generation = (slot.generation + 1) % GENERATIONS;
        self.free.push(index);
    }

    /// Counts one less that has no outcome.
    fn forget(&mut self, is_sent: bool, bytes: usize) {
        self.waiting -= 1;
        if is_sent {
            self.sent -= 1;
            self.sent_bytes -= bytes;
        }
    }
}

#[cfg(test)]
mod tests;
