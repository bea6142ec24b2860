//! Leases: held by one, for a time.

use super::Fixture;
use crate::operators::Lease;

async fn take(fixture: &Fixture, name: &str, holder: u8, seconds: u64) -> Lease {
    let until = fixture.later(seconds);
    let purpose = format!("{holder} works");
    fixture.write(async |tx| tx.lease_take(name, [holder; 16], &purpose, until).await).await
}

async fn held(fixture: &Fixture, name: &str) -> Option<u8> {
    let lease = fixture.read(async |tx| tx.lease_read(name).await).await;
    lease.map(|l| l.holder[0])
}

/// A free lease is taken, told to all, and keeps others out; another name is another lease.
pub async fn lease_is_held_by_one(fixture: &Fixture) {
    assert_eq!(held(fixture, "import").await, None);
    let lease = take(fixture, "import", 1, 60).await;
    let expected = Lease { holder: [1; 16], purpose: "1 works".to_owned(), expires_at: fixture.later(60) };
    assert_eq!(lease, expected);
    assert_eq!(take(fixture, "import", 2, 90).await, expected, "it is refused by telling who holds it");
    assert_eq!(fixture.read(async |tx| tx.lease_read("import").await).await, Some(expected));
    assert_eq!(take(fixture, "issuer", 2, 60).await.holder, [2; 16]);
}

/// The holder moves the end of its lease.
pub async fn holder_renews_its_lease(fixture: &Fixture) {
    take(fixture, "import", 1, 60).await;
    fixture.clock.set(fixture.later(50));
    assert_eq!(take(fixture, "import", 1, 60).await.expires_at, fixture.later(60));
    fixture.clock.set(fixture.later(50));
    assert_eq!(take(fixture, "import", 2, 60).await.holder, [1; 16]);
}

/// At its end a lease is nobody's, and anyone's to take.
pub async fn lease_that_ran_out_is_free(fixture: &Fixture) {
    take(fixture, "import", 1, 60).await;
    fixture.clock.set(fixture.later(59));
    assert_eq!(held(fixture, "import").await, Some(1));
    fixture.clock.set(fixture.later(1));
    assert_eq!(held(fixture, "import").await, None);
    assert_eq!(take(fixture, "import", 2, 60).await.holder, [2; 16]);
    assert_eq!(take(fixture, "import", 1, 60).await.holder, [2; 16], "the old holder has lost it");
}

/// The holder gives its lease up; nobody else can.
pub async fn lease_is_released_by_its_holder_alone(fixture: &Fixture) {
    take(fixture, "import", 1, 60).await;
    for (holder, left) in [(2, Some(1)), (1, None), (1, None)] {
        fixture.write(async |tx| tx.lease_release("import", [holder; 16]).await).await;
        assert_eq!(held(fixture, "import").await, left);
    }
    assert_eq!(take(fixture, "import", 2, 60).await.holder, [2; 16]);
}
