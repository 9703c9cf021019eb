//! Sends spans to their collector in the background, in batches, and remembers why some were lost.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft_net::{Collector, Trouble};
use opentelemetry::trace::TracerProvider;
use opentelemetry::{InstrumentationScope, Key, KeyValue};
use opentelemetry_otlp::{Protocol, RetryPolicy, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, SpanData, SpanExporter};

use super::wanted::SpanExportSettings;
use crate::opening::model::choice::way_to;

const NAME: &str = "haft";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Sends spans from a thread of its own.
pub(super) struct Export {
    provider: SdkTracerProvider,
    lost: SpanLossReason,
    /// The collector without path and user: there may be a key in them.
    place: String,
}

/// The reason why spans were lost, in a few words.
#[derive(Clone, Debug, Default)]
struct SpanLossReason(Arc<Mutex<Option<String>>>);

impl Export {
    /// Makes the way. Nothing is sent yet.
    pub(super) fn to(wanted: &SpanExportSettings) -> Result<Self, String> {
        let proxy = way_to(&wanted.url).map_err(|error| error.to_string())?;
        let collector = Collector::at(&wanted.url, wanted.time).through(proxy);
        let (trouble, lost) = (collector.trouble(), SpanLossReason::default());
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(collector)
            .with_endpoint(&wanted.url)
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(wanted.time)
            // A collector that is down is asked again with the next batch anyway.
            .with_retry_policy(RetryPolicy::recommended().with_max_retries(1))
            .build();
        let exporter = exporter.map_err(|error| format!("{error}; check the variables OTEL_EXPORTER_OTLP_…"))?;
        let exporter = SupervisedExporter { exporter, trouble, lost: lost.clone() };
        let provider = SdkTracerProvider::builder().with_resource(resource()).with_batch_exporter(exporter).build();
        Ok(Self { provider, lost, place: place(&wanted.url) })
    }

    /// Returns what begins spans.
    pub(super) fn tracer(&self) -> SdkTracer {
        self.provider.tracer_with_scope(InstrumentationScope::builder(NAME).with_version(VERSION).build())
    }

    /// Sends what is left and ends, within this time; says what became of spans that did not arrive.
    pub(super) fn end_within(&self, time: Duration) -> Result<(), String> {
        // It returns no other error here than that the time was up, if in other words.
        let ended = self.provider.shutdown_with_timeout(time);
        let why = match (self.lost.why(), ended) {
            (Some(why), _) => why,
            (None, Err(_)) => format!("no answer within {} s", time.as_secs_f64()),
            (None, Ok(())) => return Ok(()),
        };
        Err(format!("not all spans reached {}: {why}", self.place))
    }
}

/// Says who sends: what the environment says, else haft.
fn resource() -> Resource {
    let said = Resource::builder().build();
    let name = said.get(&Key::from_static_str("service.name")).map(|name| name.to_string());
    let builder = Resource::builder().with_attribute(KeyValue::new("service.version", VERSION));
    match name.filter(|name| !name.starts_with("unknown_service")) {
        Some(_) => builder.build(),
        None => builder.with_service_name(NAME).build(),
    }
}

/// Returns scheme, host and port of an address, and nothing else of it.
fn place(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}")
}

impl SpanLossReason {
    fn note(&self, why: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }

    fn why(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Remembers that a batch did not arrive, because the library does not report it.
#[derive(Debug)]
struct SupervisedExporter {
    exporter: opentelemetry_otlp::SpanExporter,
    trouble: Trouble,
    lost: SpanLossReason,
}

impl SpanExporter for SupervisedExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let sent = self.exporter.export(batch).await;
        if let Err(error) = &sent {
            self.lost.note(self.trouble.last().unwrap_or_else(|| error.to_string()));
        }
        sent
    }

    fn shutdown(&self) -> OTelSdkResult {
        self.exporter.shutdown()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_address_only_the_place_is_shown() {
        assert_eq!(place("https://user:key@host:4318/v1/traces?key=1"), "https://host:4318");
        assert_eq!(place("http://127.0.0.1:1"), "http://127.0.0.1:1");
    }
}
