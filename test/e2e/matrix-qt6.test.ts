import { playMatrix } from "./matrix-play.ts"

playMatrix("qt6")
