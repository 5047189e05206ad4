//! Connections to models: at most ten at a time, of which five are kept open.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::CallError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
const KEPT_OPEN: usize = 5;
const AT_A_TIME: usize = 10;

/// Connections that everything in one engine shares.
#[derive(Clone, Debug)]
pub(super) struct Connections {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    places: Arc<Semaphore>,
}

impl Default for Connections {
    fn default() -> Self {
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(KEPT_OPEN)
            .build(https_connector());
        Self {
            client,
            places: Arc::new(Semaphore::new(AT_A_TIME)),
        }
    }
}

/// A way to `http` and `https` addresses, with the system's certificates where there are any and else with those that
/// come with the program.
#[must_use]
pub fn https_connector() -> HttpsConnector<HttpConnector> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = HttpsConnectorBuilder::new();
    let tls = match builder.with_provider_and_native_roots(Arc::clone(&provider)) {
        Ok(tls) => tls,
        Err(_) => match HttpsConnectorBuilder::new().with_provider_and_webpki_roots(provider) {
            Ok(tls) => tls,
            Err(_) => HttpsConnectorBuilder::new().with_webpki_roots(),
        },
    };
    let mut http = HttpConnector::new();
    http.set_nodelay(true);
    http.set_connect_timeout(Some(CONNECT_TIMEOUT));
    http.enforce_http(false);
    tls.https_or_http().enable_http1().wrap_connector(http)
}

impl Connections {
    /// Sends a request. The place is taken until the permit is dropped, so keep it while the answer is read.
    pub(super) async fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<(Response<Incoming>, OwnedSemaphorePermit), CallError> {
        let place = request.uri().authority().map(ToString::to_string);
        let permit = Arc::clone(&self.places).acquire_owned().await;
        let permit = permit.map_err(|_| CallError::Cancelled)?;
        let response = self.client.request(request).await.map_err(|error| {
            if error.is_connect() {
                CallError::Unreachable {
                    place: place.unwrap_or_default(),
                }
            } else {
                CallError::CutOff
            }
        })?;
        Ok((response, permit))
    }
}
