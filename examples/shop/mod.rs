//! A make-believe shop with a card provider and a parcel carrier, shared by `order.rs` and `orders.rs`.
//!
//! It stands for the outside world, so it knows nothing of dex. As a real provider does, it remembers the
//! idempotency keys that it has seen: a repeated request gets the answer of the first and is done once.
//! What it really did stands in its ledger, so that one can check afterwards.
#![expect(
    dead_code,
    unreachable_pub,
    reason = "a module of several programs, each of which uses a part of it"
)]

mod ledger;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::ledger::{Deed, Entry, Ledger};

/// How long a request to one of the services takes.
const LATENCY: Duration = Duration::from_millis(3);

/// What a customer ordered, as far as the flow needs to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    pub id: String,
    pub email: String,
    pub cents: u64,
}

/// What the services will do about one order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    pub card: Conduct,
    pub shipment: Conduct,
}

/// How a service behaves towards one order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conduct {
    #[default]
    Ok,
    /// So many requests fail, then it works. The last one that fails is carried out; only its answer is lost.
    Flaky(u32),
    /// Every request is refused.
    Refused,
}

/// Why the shop could not do something.
#[derive(Debug, thiserror::Error)]
pub enum ShopError {
    /// The service said no.
    #[error("{deed} refused for order {order}")]
    Refused { deed: Deed, order: String },
    /// The service gave no answer. The request may have been carried out or not.
    #[error("no answer about the {deed} for order {order}")]
    NoAnswer { deed: Deed, order: String },
    /// The ledger cannot be read or written.
    #[error("the shop's ledger {path} failed")]
    Ledger { path: PathBuf, source: io::Error },
}

/// The shop and the services behind it.
pub struct Shop {
    path: PathBuf,
    /// Opened by the first request, as a connection is.
    ledger: Mutex<Option<Ledger>>,
    fates: HashMap<String, Fate>,
    /// Requests that a flaky service has had in this life of the program.
    requests: Mutex<HashMap<(Deed, String), u32>>,
}

impl Shop {
    /// A shop where nothing goes wrong, with its ledger in the working directory.
    pub fn connect() -> Self {
        Self::with("./dex-data/ledger.jsonl".into(), HashMap::new())
    }

    /// A shop with its ledger at `path`. Orders without a fate succeed.
    pub fn open(path: &Path, fates: HashMap<String, Fate>) -> Result<Self, ShopError> {
        let shop = Self::with(path.to_owned(), fates);
        shop.with_ledger(|_| Ok(()))?;
        Ok(shop)
    }

    fn with(path: PathBuf, fates: HashMap<String, Fate>) -> Self {
        Self { path, ledger: Mutex::default(), fates, requests: Mutex::default() }
    }

    /// Charges the customer's card, once for each key.
    pub async fn charge(&self, order: &Order, key: &str) -> Result<(), ShopError> {
        let conduct = self.fates.get(&order.id).map_or(Conduct::Ok, |fate| fate.card);
        self.request(Deed::Charge, order, key, conduct).await
    }

    /// Hands the parcel to the carrier. An order is shipped once, so its id is the key.
    pub async fn ship(&self, order: &Order) -> Result<(), ShopError> {
        let conduct = self.fates.get(&order.id).map_or(Conduct::Ok, |fate| fate.shipment);
        self.request(Deed::Shipment, order, &format!("ship-{}", order.id), conduct).await
    }

    /// Pays the customer back. An order is refunded once, so its id is the key.
    pub async fn refund(&self, order: &Order) -> Result<(), ShopError> {
        self.request(Deed::Refund, order, &format!("refund-{}", order.id), Conduct::Ok).await
    }

    /// Writes to the seller that an order waits for an answer. Twice is a nuisance, not a loss: it has no key.
    pub async fn remind(&self, _order: &Order) -> Result<(), ShopError> {
        pass(LATENCY).await;
        Ok(())
    }

    /// Asks the service whether it did something for this order.
    pub async fn has_done(&self, deed: Deed, order: &Order) -> Result<bool, ShopError> {
        pass(LATENCY).await;
        self.with_ledger(|ledger| Ok(ledger.entries().any(|e| e.deed == deed && e.order == order.id)))
    }

    async fn request(&self, deed: Deed, order: &Order, key: &str, conduct: Conduct) -> Result<(), ShopError> {
        pass(LATENCY).await;
        if self.with_ledger(|ledger| Ok(ledger.contains(key)))? {
            return Ok(());
        }
        let entry = Entry { deed, order: order.id.clone(), cents: order.cents, key: key.to_owned() };
        let no_answer = || ShopError::NoAnswer { deed, order: order.id.clone() };
        match conduct {
            Conduct::Refused => return Err(ShopError::Refused { deed, order: order.id.clone() }),
            Conduct::Flaky(failures) => {
                let request = self.count_request(deed, order);
                if request < failures {
                    return Err(no_answer());
                }
                self.with_ledger(|ledger| ledger.append(entry))?;
                if request == failures {
                    return Err(no_answer());
                }
            }
            Conduct::Ok => self.with_ledger(|ledger| ledger.append(entry))?,
        }
        Ok(())
    }

    /// Which request of its kind this is, from 1.
    fn count_request(&self, deed: Deed, order: &Order) -> u32 {
        let mut requests = lock(&self.requests);
        let count = requests.entry((deed, order.id.clone())).or_default();
        *count += 1;
        *count
    }

    fn with_ledger<T>(&self, work: impl FnOnce(&mut Ledger) -> io::Result<T>) -> Result<T, ShopError> {
        let failed = |source| ShopError::Ledger { path: self.path.clone(), source };
        let mut slot = lock(&self.ledger);
        let ledger = match &mut *slot {
            Some(ledger) => ledger,
            None => slot.insert(Ledger::open(&self.path).map_err(failed)?),
        };
        work(ledger).map_err(failed)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets time pass in the outside world: a network is slow, and so is a person.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the world outside of dex, which its clock does not rule"
)]
pub async fn pass(duration: Duration) {
    tokio::time::sleep(duration).await;
}
