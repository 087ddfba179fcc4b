/** Parsed JSON. Each test knows the shape of the answer that it asked for. */
// biome-ignore lint/suspicious/noExplicitAny: a type for every answer would repeat the schemas under test
export type Json = any

/** The data in the answer of an MCP tool. The last part is the text; a picture comes before it. */
export const dataOf = (result: Json): Json => JSON.parse(result.content.at(-1).text)
