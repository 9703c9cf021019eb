//! Reads from OpenTelemetry's standard variables whether to export spans, and where to send them.
//!
//! `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`, `OTEL_BSP_*` and the headers are read by the
//! library itself.

use std::time::Duration;

/// How long one request may take where nothing is said.
const USUAL_TIME: Duration = Duration::from_secs(10);

/// The settings of the export of spans: its address, its time limit and whether content is included.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SpanExportSettings {
    /// The whole address that they are sent to.
    pub(super) url: String,
    /// How long one request may take.
    pub(super) time: Duration,
    /// Whether they have what was said, and what calls were given and gave back.
    pub(super) has_content: bool,
    /// The values of headers, which are keys.
    pub(super) secrets: Vec<String>,
}

impl SpanExportSettings {
    /// Reads the variables; nothing where no spans are wanted, a sentence where they are and cannot be had.
    pub(super) fn of(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>, String> {
        let said = |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        // What is said of spans alone goes before what is said of everything.
        let of_spans = |name: &str| {
            let own = said(&format!("OTEL_EXPORTER_OTLP_TRACES_{name}"));
            own.or_else(|| said(&format!("OTEL_EXPORTER_OTLP_{name}")))
        };
        let is_off = said("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let goes_elsewhere = said("OTEL_TRACES_EXPORTER").is_some_and(|list| !list.split(',').any(is_otlp));
        let Some(url) = said("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
            .or_else(|| {
                said("OTEL_EXPORTER_OTLP_ENDPOINT").map(|url| format!("{}/v1/traces", url.trim_end_matches('/')))
            })
            .filter(|_| !is_off && !goes_elsewhere)
        else {
            return Ok(None);
        };
        let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
        if scheme != "http" && scheme != "https" {
            return Err("the address of the collector does not begin with http:// or https://; correct \
                        OTEL_EXPORTER_OTLP_ENDPOINT"
                .to_owned());
        }
        if let Some(protocol) = of_spans("PROTOCOL").filter(|protocol| protocol != "http/protobuf") {
            return Err(format!(
                "haft speaks http/protobuf and not {protocol}; set OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf and \
                 OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, usually port 4318 and the path /v1/traces"
            ));
        }
        let time = of_spans("TIMEOUT").and_then(|value| value.parse().ok()).map_or(USUAL_TIME, Duration::from_millis);
        let has_content =
            said("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT").is_some_and(|value| is_yes(&value));
        let secrets = of_spans("HEADERS").map(|list| values_of(&list)).unwrap_or_default();
        Ok(Some(Self { url, time, has_content, secrets }))
    }
}

fn is_otlp(exporter: &str) -> bool {
    exporter.trim() == "otlp"
}

/// The word that was used first, and those of today that put content into spans.
fn is_yes(value: &str) -> bool {
    ["true", "span_only", "span_and_event"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
}

/// The values of `name=value,name=value`, as they stand there and with `%20` and the like decoded.
fn values_of(list: &str) -> Vec<String> {
    let values = list.split(',').filter_map(|pair| Some(pair.split_once('=')?.1.trim().to_owned()));
    let values = values.filter(|value| !value.is_empty());
    // A scheme such as "Basic" is no secret by itself, and what stands behind it is one without it too.
    let parts = |value: String| {
        let decoded = decoded(&value);
        let last = decoded.rsplit(' ').next().unwrap_or_default().to_owned();
        [value, decoded, last]
    };
    values.flat_map(parts).collect()
}

/// Puts bytes in the place of `%20` and the like.
fn decoded(value: &str) -> String {
    let mut pieces = value.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        match piece.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend_from_slice(&piece.as_bytes()[2..]);
            }
            None => {
                bytes.push(b'%');
                bytes.extend_from_slice(piece.as_bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(variables: &[(&str, &str)]) -> Result<Option<SpanExportSettings>, String> {
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        SpanExportSettings::of(&find)
    }

    const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:4318/");

    #[test]
    fn spans_are_wanted_where_an_address_is_set_and_nothing_says_otherwise() {
        assert_eq!(wanted(&[]), Ok(None));
        assert_eq!(wanted(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]), Ok(None));
        assert_eq!(wanted(&[ENDPOINT, ("OTEL_SDK_DISABLED", "TRUE")]), Ok(None));
        assert_eq!(wanted(&[ENDPOINT, ("OTEL_TRACES_EXPORTER", "none")]), Ok(None));
        let url = |variables: &[(&str, &str)]| wanted(variables).expect("it can be had").expect("it is wanted").url;
        assert_eq!(url(&[ENDPOINT]), "http://h:4318/v1/traces");
        assert_eq!(url(&[ENDPOINT, ("OTEL_TRACES_EXPORTER", "console, otlp")]), "http://h:4318/v1/traces");
        assert_eq!(url(&[ENDPOINT, ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://t/x")]), "https://t/x");
    }

    #[test]
    fn what_cannot_be_had_is_said_with_what_to_do() {
        let bad = wanted(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318")]).expect_err("it has no scheme");
        assert!(bad.contains("http://") && !bad.contains("4318"), "{bad}");
        let grpc = wanted(&[ENDPOINT, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]).expect_err("haft does not speak it");
        assert!(grpc.contains("grpc") && grpc.contains("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf"), "{grpc}");
        let own = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf");
        assert!(wanted(&[ENDPOINT, own, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]).is_ok());
    }

    #[test]
    fn content_is_wanted_only_by_a_clear_word() {
        for (value, expected) in
            [("true", true), ("SPAN_ONLY", true), ("false", false), ("event_only", false), ("1", false)]
        {
            let set = wanted(&[ENDPOINT, ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", value)]);
            assert_eq!(set.expect("it can be had").expect("it is wanted").has_content, expected, "{value}");
        }
    }

    #[test]
    fn values_of_headers_are_secrets() {
        let set = wanted(&[ENDPOINT, ("OTEL_EXPORTER_OTLP_HEADERS", "x-team=abc, authorization=Basic%20dT%2Bw=")]);
        let secrets = set.expect("it can be had").expect("it is wanted").secrets;
        assert_eq!(secrets, ["abc", "abc", "abc", "Basic%20dT%2Bw=", "Basic dT+w=", "dT+w="]);
        assert_eq!((decoded("100%").as_str(), decoded("%é%2").as_str()), ("100%", "%é%2"));
    }
}
