use super::{expansion, messages};

/// What is said about a flow with these options and members. It is endless, so that paths are not the matter.
fn said(members: &str) -> Vec<String> {
    messages(expansion("endless", &format!("impl Shop {{ {members} }}")))
}

fn step(options: &str, body: &str) -> Vec<String> {
    said(&format!(
        "#[attribute] const A: Attribute<u8>;
        #[step(start, {options})] async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {{ {body} }}"
    ))
}

#[test]
fn a_sign_of_life_is_any_that_could_be_one() {
    let given =
        ["ctx.heartbeat();", "ctx.checkpoint(&1)?;", "work(ctx).await?;", "join!(beat(&ctx))", "todo !()"];
    for body in given {
        assert_eq!(step("heartbeat = \"1s\"", body), Vec::<String>::new(), "{body}");
    }
    for body in ["Ok(Next::fail(\"\"))", "ctx.set(Self::A, 1)?;", "other.work();"] {
        assert_eq!(step("heartbeat = \"1s\"", body).len(), 1, "{body}");
    }
    assert_eq!(step("", "Ok(Next::fail(\"\"))"), Vec::<String>::new());
}

#[test]
fn what_may_be_added_to_is_left_alone() {
    let right = [
        "Ok(Next::to(Self::SELL, ()).and(Self::SELL, ()))",
        "Ok(Next::each(Self::SELL, []).cancel(Self::SELL).and(Self::SELL, ()))",
        "Ok(Next::complete(a.and(b)))",
        "Ok(Next::fail(\"\").cancel(Self::SELL))",
        "Ok(Task::complete(1).and(2))",
    ];
    for body in right {
        assert_eq!(step("", body), Vec::<String>::new(), "{body}");
    }
    for wrong in ["Next::fail(\"\").and(a, b)", "vec![Next::complete_now(1).cancel(c).and(a, b)]"] {
        assert_eq!(step("", wrong).len(), 1, "{wrong}");
    }
}

#[test]
fn only_calls_of_dex_are_taken_for_its_own() {
    let right =
        ["other::Wait::any(a, b)", "Wait::any(f(a, b))", "other::Next::to(\"a\", b)", "Next::fail(\"a\")"];
    for body in right {
        assert_eq!(step("", body), Vec::<String>::new(), "{body}");
    }
    for wrong in ["dex::Wait::any(a, b)", "Order { wait: Wait::all(a, b) }", "::dex::Next::to(\"a\", b)"] {
        assert_eq!(step("", wrong).len(), 1, "{wrong}");
    }
}

#[test]
fn a_lock_is_asked_of_those_only_who_run_beside_others() {
    let with = |options: &str, mark: &str| {
        said(&format!(
            "#[attribute] const A: Attribute<u8>;
            #[step(entry, lock(A))] async fn add(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {{ ctx.set(Self::A, 1) }}
            #[{mark}({options})] async fn clear(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {{ ctx.delete(Self::A) }}"
        ))
    };
    assert_eq!(with("entry", "step").len(), 1);
    let right = [
        ("entry, lock(A)", "step"),
        ("entry, no_lock(A)", "step"),
        ("start", "step"),
        ("", "on_cancel"),
        ("", "on_timeout"),
    ];
    for (options, mark) in right {
        assert_eq!(with(options, mark), Vec::<String>::new(), "{mark}({options})");
    }
    let needless = [("entry, lock(A), no_lock(A)", "step"), ("start, no_lock(A)", "step")];
    for (options, mark) in needless {
        assert_eq!(with(options, mark).len(), 1, "{mark}({options})");
    }
    assert_eq!(with("no_lock(A)", "step").len(), 1, "that it is not reached");
}

#[test]
fn a_step_that_the_flow_goes_to_as_well_may_have_siblings() {
    let with = |body: &str| {
        said(&format!(
            "#[step(start)] async fn sell(&self) -> StepResult<Self> {{ {body} }}
            #[on_timeout] async fn late(&self) -> StepResult<Self> {{ Ok(Next::dead_end().cancel_siblings(Self::SELL)) }}"
        ))
    };
    assert_eq!(with("Ok(Next::dead_end())").len(), 1);
    assert_eq!(with("Ok(Next::to(Self::LATE, ()))"), Vec::<String>::new());
}
