declare module "*/client.js" {
  const text: string
  export default text
}

declare module "*/style.css" {
  const text: string
  export default text
}
