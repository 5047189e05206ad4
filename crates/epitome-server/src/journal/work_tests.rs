use std::future::pending;

use epitome_store::TenantId;
use futures_util::FutureExt as _;
use futures_util::future::join_all;
use tokio_util::task::TaskTracker;

use super::*;
use crate::config::QuotaLimits;
use crate::index::Index;
use crate::quota::Quota;

fn journal(shop: &Workshop) -> Journal {
    let tenant = TenantId::local();
    let quota = Arc::new(Quota::new(tenant.clone(), QuotaLimits::default()));
    let index = Arc::new(Index::default());
    Journal::start(None, tenant, index, quota, shop, &TaskTracker::new())
}

#[tokio::test]
async fn only_so_many_wait_whichever_tenant_they_are_for() {
    let shop = Workshop::default();
    let [one, other] = [journal(&shop), journal(&shop)];
    let id = ConversationId::from_number(1);
    let work = |journal| Journal::alone(journal, &id, Reason::NearLine, pending::<()>());
    let mut most = join_all((0..AT_ONCE + MOST_WAITING).map(|_| work(&one)));
    assert!((&mut most).now_or_never().is_none());
    let waiting = |journal: &Journal| (journal.crew().running, journal.crew().waiting);
    assert_eq!(waiting(&one), (AT_ONCE, MOST_WAITING));
    assert_eq!(work(&other).now_or_never(), Some(None));
    assert_eq!(other.crew().left_out, 1);
    assert_eq!(waiting(&other), (0, 0));
    drop(most);
    assert!(work(&other).now_or_never().is_none(), "there is room again");
}
