/** AT-SPI interfaces as bits, so that "does it have Text?" costs nothing. */
export const INTERFACE = {
  Accessible: 1,
  Action: 2,
  Application: 4,
  Cache: 8,
  Collection: 16,
  Component: 32,
  Document: 64,
  EditableText: 128,
  Hyperlink: 256,
  Hypertext: 512,
  Image: 1024,
  Selection: 2048,
  Table: 4096,
  TableCell: 8192,
  Text: 16384,
  Value: 32768,
} as const

export type Interfaces = number
