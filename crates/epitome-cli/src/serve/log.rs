//! What the proxy logs, and how.

use std::fmt::{self, Debug};
use std::io::IsTerminal;

use epitome_server::ACCESS_LOG;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::args::{LogForm, ServeArgs};
use crate::clock::now_ms;

/// Logs to standard error from now on.
pub(super) fn start(args: &ServeArgs) {
    let filter =
        EnvFilter::try_from_env("EPITOME_LOG").unwrap_or_else(|_| EnvFilter::new(filter(args)));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    match args.log_form {
        LogForm::Json => lines.event_format(JsonLines).init(),
        LogForm::Text => {
            let is_coloured =
                std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            lines.with_ansi(is_coloured).init();
        }
    }
}

/// What is logged where `EPITOME_LOG` does not say.
fn filter(args: &ServeArgs) -> String {
    let level = match (args.quiet, args.verbose) {
        (true, _) => "warn",
        (false, 0) => "info",
        (false, 1) => "info,epitome_server=debug,epitome_engine=debug,epitome_store=debug",
        (false, _) => "info,epitome_server=trace,epitome_engine=trace,epitome_store=trace",
    };
    let access = match args.access_log || args.verbose > 0 {
        true => "info",
        false => "off",
    };
    format!("{level},{ACCESS_LOG}={access}")
}

/// One JSON object a line: when, how grave, from where, and what.
struct JsonLines;

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut members = Members::default();
        let at = i64::try_from(now_ms()).ok();
        let at = at.and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
        let at = at.map(|at| at.to_string());
        members.insert("timestamp", at.into());
        members.insert("level", event.metadata().level().as_str().into());
        members.insert("target", event.metadata().target().into());
        event.record(&mut members);
        writeln!(writer, "{}", Value::Object(members.0))
    }
}

/// The members of a line.
#[derive(Default)]
struct Members(Map<String, Value>);

impl Members {
    fn insert(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }
}

impl Visit for Members {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.insert(field.name(), format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.insert(field.name(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.insert(field.name(), value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.insert(field.name(), value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.insert(field.name(), value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.insert(field.name(), value.into());
    }
}
