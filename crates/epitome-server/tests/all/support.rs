//! A proxy in front of a scripted model, for one test.

use std::net::SocketAddr;

use epitome_server::{Config, INSPECTION_LIMIT_BYTES, Mode, Server, StoreLocation};
use epitome_testkit::{ModelConfig, ScriptedModel};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A running proxy. Stops gracefully with [`Proxy::stop`], at once when dropped.
pub struct Proxy {
    pub address: SocketAddr,
    shutdown: Option<oneshot::Sender<()>>,
    task: JoinHandle<std::io::Result<()>>,
}

/// Settings for a proxy in front of `upstream` for both APIs, without a store.
pub fn config(upstream: SocketAddr) -> Config {
    let upstream: http::Uri = format!("http://{upstream}").parse().unwrap();
    Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        openai_upstream: Some(upstream.clone()),
        anthropic_upstream: Some(upstream),
        store: StoreLocation::None,
        window_tokens: None,
        mode: Mode::Act,
        inspection_limit_bytes: INSPECTION_LIMIT_BYTES,
    }
}

impl Proxy {
    #[expect(clippy::disallowed_methods, reason = "a test owns its runtime")]
    pub async fn start(config: Config) -> Self {
        let server = Server::bind(config).await.unwrap();
        let address = server.address();
        let (shutdown, stop) = oneshot::channel::<()>();
        let task = tokio::spawn(server.run(async move {
            stop.await.ok();
        }));
        Self {
            address,
            shutdown: Some(shutdown),
            task,
        }
    }

    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Ends the proxy and waits until its writes are done.
    pub async fn stop(mut self) {
        self.shutdown.take();
        (&mut self.task).await.unwrap().unwrap();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A scripted model and a proxy in front of it.
pub async fn pair(model: ModelConfig, adjust: impl FnOnce(&mut Config)) -> (ScriptedModel, Proxy) {
    let model = ScriptedModel::start(model).await;
    let mut config = config(model.address());
    adjust(&mut config);
    (model, Proxy::start(config).await)
}
