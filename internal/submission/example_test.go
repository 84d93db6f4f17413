package submission_test

import (
	"fmt"
	"log"

	"skyrail/internal/submission"
)

func ExampleOpen() {
	s, err := submission.Open("testdata/infozip-nested.zip", submission.DefaultLimits())
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	fmt.Println(s.Manifest.Team, s.Manifest.EnvEntryPoint, s.Has("model/policy.zip"))
	// Output: Sky Rail Heroes envs.my_env:MyEnv true
}
