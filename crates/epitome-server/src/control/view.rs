//! Who looks, and at what: the operator at any tenant, one at a time, and a tenant at itself.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use epitome_store::AnyStore;
use http::request::Parts;
use http::{HeaderMap, Request, StatusCode};
use tokio_util::sync::CancellationToken;

use super::{Control, query};
use crate::proxy::Proxy;
use crate::tenants::{Peer, Register, Tenant, bearer};
use crate::token::{cookie_name, cookies};

/// Who looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Viewer {
    /// Who runs the server.
    Operator,
    /// A tenant, at what is its own.
    Tenant,
}

/// Why somebody may see nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unseen {
    /// It is not known who asks.
    Nobody,
    /// There is no such tenant; who asks for another one than his own is told the same.
    NoTenant,
}

/// What somebody may see: all there is of one tenant.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) proxy: Arc<Proxy>,
    pub(super) store: Option<Arc<AnyStore>>,
    pub(super) tenant: Arc<Tenant>,
    pub(super) viewer: Viewer,
    pub(super) ending: CancellationToken,
}

impl View {
    /// What a request may see.
    pub(super) fn of<B>(control: &Control, request: &Request<B>) -> Result<Self, Unseen> {
        let (headers, query) = (request.headers(), request.uri().query());
        let register = control.proxy.register();
        let wanted = query::member(query, "tenant");
        let (viewer, tenant) = if control.token.is_in(headers, control.address) {
            let chosen = wanted.or_else(|| chosen(control, headers, &register));
            let tenant = match &chosen {
                Some(name) => register.named(name),
                None => register.all().first(),
            };
            (Viewer::Operator, tenant.ok_or(Unseen::NoTenant)?)
        } else {
            let peer = request.extensions().get::<Peer>().copied();
            let tenant = own(control, &register, headers, peer).ok_or(Unseen::Nobody)?;
            let is_own = wanted.is_none_or(|name| name == tenant.id.as_str());
            let tenant = is_own.then_some(tenant).ok_or(Unseen::NoTenant)?;
            (Viewer::Tenant, tenant)
        };
        Ok(Self {
            proxy: Arc::clone(&control.proxy),
            store: control.store.clone(),
            tenant: Arc::clone(tenant),
            viewer,
            ending: control.ending.clone(),
        })
    }

    /// Whether it is the operator's, who sees the settings too.
    pub(super) fn is_operators(&self) -> bool {
        self.viewer == Viewer::Operator
    }

    /// The tenants that may be looked at.
    pub(super) fn tenants(&self) -> Vec<Arc<Tenant>> {
        match self.viewer {
            Viewer::Operator => self.proxy.register().all().to_vec(),
            Viewer::Tenant => vec![Arc::clone(&self.tenant)],
        }
    }
}

/// What the operator chose on a page, where that is still there.
fn chosen(control: &Control, headers: &HeaderMap, register: &Register) -> Option<String> {
    let name = choice_name(control);
    let mut chosen = cookies(headers, &name).filter(|name| register.named(name).is_some());
    chosen.next().map(ToOwned::to_owned)
}

/// The cookie that says which tenant the operator looks at.
pub(super) fn choice_name(control: &Control) -> String {
    format!("{}_tenant", cookie_name(control.address))
}

/// Which tenant a request is from: by its key as a bearer, by what logging in left, or as on its way to a provider.
fn own<'r>(
    control: &Control,
    register: &'r Register,
    headers: &HeaderMap,
    peer: Option<Peer>,
) -> Option<&'r Arc<Tenant>> {
    if !register.tells_apart() {
        return None;
    }
    let bearers = headers.get_all(http::header::AUTHORIZATION).iter();
    let mut bearers = bearers.filter_map(|value| bearer(value.to_str().ok()?));
    if let Some(key) = bearers.next() {
        let tenant = register.of_key(key);
        return tenant.filter(|_| bearers.next().is_none());
    }
    let name = cookie_name(control.address);
    let secret = control.token.as_str();
    let mut sessions = cookies(headers, &name);
    let of_session = sessions.find_map(|session| register.of_session(session, secret));
    of_session.or_else(|| register.of_request(headers, peer))
}

impl<S: Sync> FromRequestParts<S> for View {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, StatusCode> {
        // Whoever may look was given one on the way in.
        parts
            .extensions
            .get()
            .cloned()
            .ok_or(StatusCode::UNAUTHORIZED)
    }
}
