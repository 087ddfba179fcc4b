/** A result that people and shells read as it is; where only data can pass, it is an object with one member. */
export class PlainText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}
