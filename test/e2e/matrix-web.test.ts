import { playMatrix } from "./matrix-play.ts"

playMatrix("web")
