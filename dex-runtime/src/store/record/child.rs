//! Children and parents.

use std::time::Duration;

use super::bytes::{ReadError, Reader, Writer};
use super::tag::event as tag;
use super::tag::{parent_end, stage};
use crate::engine::{Child, ChildNo, ChildRequest, ChildStage, ChildStart, Parent, ParentEnd};
use crate::ids::{FlowId, RunId};
use crate::value::Payload;

impl Writer {
    pub(super) fn child_no(&mut self, child: ChildNo) {
        self.execution(child.execution);
        self.number(child.index.into());
    }

    pub(super) fn parent(&mut self, parent: &Parent) {
        self.fixed(parent.run_id.as_bytes());
        self.text(parent.flow_id.as_str());
        self.child_no(parent.child);
    }

    pub(super) fn child_requested(&mut self, child: ChildNo, flow_id: &FlowId, request: &ChildRequest) {
        self.of_child(tag::CHILD_REQUESTED, child);
        self.text(flow_id.as_str());
        self.child_request(request);
    }

    pub(super) fn child_started(&mut self, child: ChildNo, run: RunId) {
        self.of_child(tag::CHILD_STARTED, child);
        self.fixed(run.as_bytes());
    }

    pub(super) fn child_ended(&mut self, child: ChildNo, result: &Payload) {
        self.of_child(tag::CHILD_ENDED, child);
        self.payload(result);
    }

    pub(super) fn of_child(&mut self, tag: u8, child: ChildNo) {
        self.byte(tag);
        self.child_no(child);
    }

    fn child_request(&mut self, request: &ChildRequest) {
        self.name(&request.flow);
        self.parent_end(request.on_parent_end);
        self.child_start(&request.start);
    }

    fn child_start(&mut self, start: &ChildStart) {
        self.payload(&start.input);
        self.list(&start.attributes, |out, (slot, value)| {
            out.slot(slot);
            out.payload(value);
        });
        self.option(start.timeout, |out, timeout| {
            out.number(u64::try_from(timeout.as_micros()).unwrap_or(u64::MAX));
        });
    }

    fn parent_end(&mut self, policy: ParentEnd) {
        self.byte(match policy {
            ParentEnd::Leave => parent_end::LEAVE,
            ParentEnd::Cancel => parent_end::CANCEL,
            ParentEnd::Terminate => parent_end::TERMINATE,
        });
    }

    pub(super) fn child(&mut self, child: &Child) {
        self.name(&child.flow);
        self.text(child.flow_id.as_str());
        self.parent_end(child.on_parent_end);
        match &child.stage {
            ChildStage::Wanted(start) => {
                self.byte(stage::WANTED);
                self.child_start(start);
            }
            ChildStage::Open(run) => {
                self.byte(stage::OPEN);
                self.fixed(run.as_bytes());
            }
            ChildStage::Ended(result) => {
                self.byte(stage::ENDED);
                self.payload(result);
            }
        }
    }
}

impl Reader<'_> {
    pub(super) fn child_no(&mut self) -> Result<ChildNo, ReadError> {
        Ok(ChildNo { execution: self.execution()?, index: self.small_number()? })
    }

    pub(super) fn parent(&mut self) -> Result<Parent, ReadError> {
        Ok(Parent { run_id: self.run()?, flow_id: self.flow_id()?, child: self.child_no()? })
    }

    pub(super) fn child_request(&mut self) -> Result<ChildRequest, ReadError> {
        Ok(ChildRequest { flow: self.name()?, on_parent_end: self.parent_end()?, start: self.child_start()? })
    }

    fn child_start(&mut self) -> Result<ChildStart, ReadError> {
        Ok(ChildStart {
            input: self.payload()?,
            attributes: self.list(|input| Ok((input.slot()?, input.payload()?)))?,
            timeout: self.option(|input| input.number().map(Duration::from_micros))?,
        })
    }

    fn parent_end(&mut self) -> Result<ParentEnd, ReadError> {
        Ok(match self.byte()? {
            parent_end::LEAVE => ParentEnd::Leave,
            parent_end::CANCEL => ParentEnd::Cancel,
            parent_end::TERMINATE => ParentEnd::Terminate,
            other => return Err(self.unknown_tag("policy for a parent's end", other)),
        })
    }

    pub(super) fn child(&mut self) -> Result<Child, ReadError> {
        Ok(Child {
            flow: self.name()?,
            flow_id: self.flow_id()?,
            on_parent_end: self.parent_end()?,
            stage: match self.byte()? {
                stage::WANTED => ChildStage::Wanted(Box::new(self.child_start()?)),
                stage::OPEN => ChildStage::Open(self.run()?),
                stage::ENDED => ChildStage::Ended(self.payload()?),
                other => return Err(self.unknown_tag("child", other)),
            },
        })
    }
}
