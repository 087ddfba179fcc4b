import { playMatrix } from "./matrix-play.ts"

playMatrix("gtk3")
