//! Handlers of minimal APIs: `app.MapGet("/jobs", (Store store) => store.All)`.
//!
//! A host calls them with arguments that it makes by their types. So a handler that is passed to a
//! model's `__Handler` is wrapped in a delegate without parameters, which makes the arguments and
//! calls the handler. `models/hosting.cs` says what the model does with it.

use super::Lowerer;
use super::scope::{LoweringContext, This};
use crate::csharp::syntax::Syntax;
use crate::csharp::types::Ty;
use crate::ir::objects::DELEGATE_TARGET;
use crate::ir::{AccessClass, Instr, Scalar};

impl<'a> Lowerer<'_, 'a> {
    /// Whether a parameter takes handlers of requests.
    pub fn is_for_handlers(&self, ty: &Ty) -> bool {
        ty.class().is_some_and(|c| self.world.class(c).builtin && self.world.class(c).name == "__Handler")
    }

    /// Replaces the delegate on the stack by one that makes its arguments and calls it.
    pub fn wrap_handler(&mut self, params: &[Ty], s: Syntax<'a>) {
        let handler = self.temporary();
        self.emit(Instr::Set(handler));
        let makers: Vec<Option<u32>> = params.iter().map(|ty| self.maker(ty)).collect();
        // Objects shared by all requests are made before the first one.
        for (ty, maker) in params.iter().zip(&makers) {
            if let Some(f) = maker.filter(|_| self.is_shared(ty)) {
                self.emit(Instr::Call(f, 0));
                self.emit(Instr::Drop);
            }
        }
        let request = self.request(params, &makers, s);
        self.emit(Instr::FuncAddr(request));
        self.emit(Instr::Get(handler));
        self.emit(Instr::NewDelegate(0));
    }

    /// The function that makes the arguments for the handler that its delegate is bound to.
    fn request(&mut self, params: &[Ty], makers: &[Option<u32>], s: Syntax<'a>) -> u32 {
        let around = self.context();
        let mut c = LoweringContext::new(around.place.clone(), None, This::None, true, "a request".into());
        c.builder.pos = s.pos();
        c.builder.pos.line = 0;
        c.builder.locals = 1;
        self.contexts.push(c);
        self.emit(Instr::Get(0));
        self.emit(Instr::Field(DELEGATE_TARGET));
        self.emit(Instr::Load(Scalar::U64, AccessClass::Hidden));
        for (ty, maker) in params.iter().zip(makers) {
            match maker {
                Some(f) => self.emit(Instr::Call(*f, 0)),
                None if ty.is_number() || self.world.is_enum(ty) => self.emit(Instr::Unknown),
                None => self.emit(Instr::SomeObject),
            }
        }
        self.emit(Instr::CallDelegate(u8::try_from(params.len()).unwrap_or(u8::MAX)));
        self.emit(Instr::Return);
        let function = self.new_function();
        self.close(function, 1, s);
        self.hide(function);
        function
    }

    fn is_shared(&mut self, ty: &Ty) -> bool {
        let class = ty.class().and_then(|c| self.implementation(c));
        class.is_some_and(|c| self.singletons.contains_key(&c))
    }
}
