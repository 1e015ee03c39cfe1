//! The calls of an answer, in the order in which the model made them.
//!
//! A model that writes a script and runs it counts on the one being done before the other begins. Nothing
//! about such a call may be looked at before its turn, as it depends on what the calls before it do.

use std::collections::BTreeMap;

use tokio::sync::watch;

use crate::tool::Tool;

/// How a call gets along with those before and after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Company {
    /// It only looks: it waits for calls that act, and for no others.
    Looks,
    /// It waits for all calls before it, and all after it wait for it.
    Acts,
}

impl Company {
    /// Returns what is known before the arguments are: what is not known to look may act.
    pub(super) fn of(tool: Option<&dyn Tool>) -> Self {
        // Who calls a tool that is not there is told so.
        match tool.is_none_or(|tool| tool.only_looks()) {
            true => Self::Looks,
            false => Self::Acts,
        }
    }
}

/// The tickets of the calls of one answer.
#[derive(Debug)]
pub(super) struct Tickets {
    /// Those that are not done, by number.
    open: watch::Sender<BTreeMap<u64, Company>>,
}

/// The place of a call among the others, until it is dropped.
#[derive(Debug)]
pub(super) struct Ticket {
    number: u64,
    company: Company,
    open: watch::Sender<BTreeMap<u64, Company>>,
}

impl Tickets {
    pub(super) fn new() -> Self {
        Self {
            open: watch::Sender::new(BTreeMap::new()),
        }
    }

    /// Returns the ticket that comes after all others.
    pub(super) fn take(&self, company: Company) -> Ticket {
        let mut number = 0;
        self.open.send_modify(|open| {
            number = open.last_key_value().map_or(0, |(last, _)| last + 1);
            open.insert(number, company);
        });
        Ticket {
            number,
            company,
            open: self.open.clone(),
        }
    }
}

impl Ticket {
    /// Notes that the call turned out to only look.
    pub(super) fn looks(&mut self) {
        self.company = Company::Looks;
        self.open.send_modify(|open| {
            open.insert(self.number, Company::Looks);
        });
    }

    /// Waits until the calls are done that this one waits for.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub(super) async fn reached(&self) {
        let mut open = self.open.subscribe();
        let reached = open.wait_for(|open| {
            let mut before = open.range(..self.number).map(|(_, company)| *company);
            match self.company {
                Company::Looks => !before.any(|company| company == Company::Acts),
                Company::Acts => before.next().is_none(),
            }
        });
        // It fails only without a sender, and the ticket has one.
        drop(reached.await);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.open.send_modify(|open| {
            open.remove(&self.number);
        });
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn is_reached(ticket: &Ticket) -> bool {
        ticket.reached().now_or_never().is_some()
    }

    #[test]
    fn calls_that_look_go_side_by_side_and_one_that_acts_goes_alone() {
        let tickets = Tickets::new();
        let [one, two] = [(); 2].map(|()| tickets.take(Company::Looks));
        let acts = tickets.take(Company::Acts);
        let after = tickets.take(Company::Looks);
        assert!(is_reached(&one) && is_reached(&two));
        assert!(!is_reached(&acts) && !is_reached(&after));
        drop(one);
        assert!(!is_reached(&acts));
        drop(two);
        assert!(is_reached(&acts) && !is_reached(&after));
        drop(acts);
        assert!(is_reached(&after));
    }

    #[test]
    fn calls_that_turn_out_to_look_go_side_by_side() {
        let tickets = Tickets::new();
        let [mut one, mut two, three] = [(); 3].map(|()| tickets.take(Company::Acts));
        assert!(is_reached(&one) && !is_reached(&two));
        two.looks();
        assert!(!is_reached(&two));
        one.looks();
        assert!(is_reached(&two) && !is_reached(&three));
    }

    #[test]
    fn calls_that_act_go_in_their_order_though_one_is_given_up() {
        let tickets = Tickets::new();
        let [one, two, three] = [(); 3].map(|()| tickets.take(Company::Acts));
        assert!(is_reached(&one) && !is_reached(&two) && !is_reached(&three));
        drop(two);
        assert!(!is_reached(&three));
        drop(one);
        assert!(is_reached(&three));
    }
}
