//! `#[derive(RadixKey)]` for [Sweepsort](https://docs.rs/sweepsort).

use proc_macro::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Index, Member, parse_macro_input, parse_quote};

// Its documentation is the library's, which has examples, and this crate has not the library.
#[allow(missing_docs)]
#[proc_macro_derive(RadixKey)]
pub fn derive_radix_key(input: TokenStream) -> TokenStream {
    let mut input = parse_macro_input!(input as DeriveInput);
    let fields = match &input.data {
        Data::Struct(data) => &data.fields,
        _ => {
            return Error::new_spanned(
                &input.ident,
                "RadixKey can be derived for structs only; for an enum, implement it by hand or \
                 sort by a number that stands for the variant",
            )
            .into_compile_error()
            .into();
        }
    };
    let members: Vec<Member> = match fields {
        Fields::Named(fields) => fields
            .named
            .iter()
            .map(|field| Member::Named(field.ident.clone().unwrap()))
            .collect(),
        Fields::Unnamed(fields) => (0..fields.unnamed.len())
            .map(|i| Member::Unnamed(Index::from(i)))
            .collect(),
        Fields::Unit => Vec::new(),
    };
    let types: Vec<_> = fields.iter().map(|field| field.ty.clone()).collect();
    for parameter in input.generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(::sweepsort::RadixKey));
    }
    let name = &input.ident;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    quote! {
        impl #impl_generics ::sweepsort::RadixKey for #name #type_generics #where_clause {
            const BITS: u32 = 0 #(+ <#types as ::sweepsort::RadixKey>::BITS)*;

            #[inline(always)]
            fn write(&self, out: &mut ::sweepsort::BitWriter) {
                #(::sweepsort::RadixKey::write(&self.#members, out);)*
            }

            #[inline(always)]
            fn read(from: &mut ::sweepsort::BitReader) -> Self {
                Self { #(#members: <#types as ::sweepsort::RadixKey>::read(from),)* }
            }
        }
    }
    .into()
}
