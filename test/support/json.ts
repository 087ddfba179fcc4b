/** Parsed JSON. Each test knows the shape of the answer that it asked for. */
// biome-ignore lint/suspicious/noExplicitAny: a type for every answer would repeat the schemas under test
export type Json = any
