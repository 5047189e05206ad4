//! The proxy from outside: real sockets, a scripted model behind it, real clients in front.

#[cfg(test)]
#[path = "all/chromium.rs"]
mod chromium;
#[cfg(test)]
#[path = "all/odd.rs"]
mod odd;
#[cfg(test)]
#[path = "all/support.rs"]
mod support;

#[cfg(test)]
#[path = "all/bad_input.rs"]
mod bad_input;
#[cfg(test)]
#[path = "all/broken_upstream.rs"]
mod broken_upstream;
#[cfg(test)]
#[path = "all/browser.rs"]
mod browser;
#[cfg(test)]
#[path = "all/bytes.rs"]
mod bytes;
#[cfg(test)]
#[path = "all/cluster.rs"]
mod cluster;
#[cfg(test)]
#[path = "all/connections.rs"]
mod connections;
#[cfg(test)]
#[path = "all/continued.rs"]
mod continued;
#[cfg(test)]
#[path = "all/control.rs"]
mod control;
#[cfg(test)]
#[path = "all/conversations.rs"]
mod conversations;
#[cfg(test)]
#[path = "all/dashboard.rs"]
mod dashboard;
#[cfg(test)]
#[path = "all/identity.rs"]
mod identity;
#[cfg(test)]
#[path = "all/lines.rs"]
mod lines;
#[cfg(test)]
#[path = "all/museum.rs"]
mod museum;
#[cfg(test)]
#[path = "all/neighbours.rs"]
mod neighbours;
#[cfg(test)]
#[path = "all/packed.rs"]
mod packed;
#[cfg(test)]
#[path = "all/recall.rs"]
mod recall;
#[cfg(test)]
#[path = "all/recovery.rs"]
mod recovery;
#[cfg(test)]
#[path = "all/reports.rs"]
mod reports;
#[cfg(test)]
#[path = "all/responses.rs"]
mod responses;
#[path = "all/sdk.rs"]
mod sdk;
#[cfg(test)]
#[path = "all/splices.rs"]
mod splices;
#[cfg(test)]
#[path = "all/status.rs"]
mod status;
#[cfg(test)]
#[path = "all/strange.rs"]
mod strange;
#[cfg(test)]
#[path = "all/stress.rs"]
mod stress;
#[cfg(test)]
#[path = "all/tenants.rs"]
mod tenants;
#[cfg(test)]
#[path = "all/traces.rs"]
mod traces;
#[cfg(test)]
#[path = "all/waiting.rs"]
mod waiting;
#[cfg(test)]
#[path = "all/wordings.rs"]
mod wordings;
